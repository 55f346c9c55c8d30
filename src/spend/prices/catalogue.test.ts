import { findProvider } from '@pydantic/genai-prices'
import test from 'ava'
import { bookOf, NOVEMBER_MS, usageOf } from '../../../test/support/price-usage.ts'
import { catalogueNames } from './model-names.ts'

const MILLION_IN = usageOf({ inputTokens: 1_000_000 })

for (const [model, usd] of [
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', 3.3],
  ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
  ['eu.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
  ['jp.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
  ['au.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
  ['global.anthropic.claude-haiku-4-5-20251001-v1:0', 1],
  ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-opus-5', 5],
  ['arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-pro-v1:0', 0.8],
  ['us.meta.llama3-3-70b-instruct-v1:0', 0.72],
  ['apac.amazon.nova-pro-v1:0', 0.8],
] as const) {
  test(`catalogue: Bedrock's ${model} is found`, async (t) => {
    const { costNanoUsd, source } = bookOf().price({ provider: 'bedrock', model }, MILLION_IN, NOVEMBER_MS)
    t.deepEqual([costNanoUsd, source], [Math.round(usd * 1e9), 'catalogue'])
  })
}

for (const [provider, model, matched] of [
  ['vertex', 'claude-opus-4-8', 'google/claude-opus-4-8'],
  ['vertex', 'claude-haiku-4-5@20251001', 'google/claude-haiku-4-5'],
  ['vertex', 'publishers/anthropic/models/claude-opus-4-8', 'google/claude-opus-4-8'],
  ['gemini', 'models/gemini-2.5-flash', 'google/gemini-2.5-flash'],
  ['gemini', 'gemini-2.5-flash-preview-09-2025', 'google/gemini-2.5-flash'],
  ['my-proxy', 'openai/gpt-5', 'openai/gpt-5'],
] as const) {
  test(`catalogue: ${provider}/${model} is ${matched}`, async (t) => {
    t.is(bookOf().price({ provider, model }, MILLION_IN, NOVEMBER_MS).matched, matched)
  })
}

test('catalogue: an inference profile’s own name takes precedence over the plain one', (t) => {
  t.deepEqual(catalogueNames('bedrock', 'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x-v1:0'), [
    'us.anthropic.claude-x-v1:0',
    'anthropic.claude-x-v1:0',
    'anthropic.claude-x',
  ])
})

test('catalogue: every model of our providers has a sheet or the ceiling, and no price below 0', async (t) => {
  const book = bookOf()
  const ours = { anthropic: 'anthropic', openai: 'openai', bedrock: 'aws', gemini: 'google', openrouter: 'openrouter' }
  const others = ['groq', 'mistral', 'deepseek', 'together', 'fireworks', 'perplexity', 'azure', 'cohere']
  const names = { ...ours, ...Object.fromEntries(others.map((name) => [name, name])), xai: 'x-ai' }
  let priced = 0
  for (const [provider, listed] of Object.entries(names)) {
    for (const { id } of findProvider({ providerId: listed })?.models ?? []) {
      const { source, steps } = book.sheet({ provider, model: id }, NOVEMBER_MS)
      if (source === 'catalogue') priced++
      for (const { rates } of steps) t.true(Object.values(rates).every((rate: bigint) => rate >= 0n))
    }
  }
  t.true(priced > 900, `${priced} models have a price`)
})

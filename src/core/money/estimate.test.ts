import test from 'ava'
import fc from 'fast-check'
import { openExchange } from '../../../test/support/exchange.ts'
import { bookOf, NOVEMBER_MS } from '../../../test/support/price-usage.ts'
import { TokenEstimator } from '../../spend/tokens/token-estimator.ts'
import { costOf, estimate, estimateBySize, tokensFor } from './estimate.ts'

const prices = bookOf()
const tokens = { inputTokens: () => 1000 }
const MODEL = { provider: 'anthropic', model: 'claude-opus-4-6' }

function estimated(
  fields: object,
  { targets = [MODEL], answers = 1 }: { targets?: [typeof MODEL, ...(typeof MODEL)[]]; answers?: number } = {},
) {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields })
  return estimate(
    openExchange({ dialect: 'messages', body, targets }),
    { tokens, prices },
    { answers, atMs: NOVEMBER_MS },
  )
}

test('estimate: the input is taken for larger than it is counted', (t) => {
  t.deepEqual(estimated({}), { inputNanoUsd: 1332 * 5000, outputTokenNanoUsd: 25_000, inputTokens: 1000 })
})

const system = (ttl?: string) => [
  { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } },
]
const dearer: [claim: string, fields: object, inputFactor: number, outputFactor: number][] = [
  ['writing to the prompt cache', { system: system() }, 1.25, 1],
  ['writing to the prompt cache for an hour', { system: system('1h') }, 2, 1],
  ['a fast mode', { speed: 'fast' }, 6, 6],
  ['a region', { inference_geo: 'us' }, 1.1, 1.1],
  ['a discount that may not come', { service_tier: 'batch' }, 1, 1],
]
for (const [claim, fields, inputFactor, outputFactor] of dearer) {
  test(`estimate: ${claim} has its price`, (t) => {
    const { inputNanoUsd, outputTokenNanoUsd } = estimated(fields)
    t.is(inputNanoUsd, Math.round(1332 * 5000 * inputFactor))
    t.is(outputTokenNanoUsd, Math.round(25_000 * outputFactor))
  })
}

test('estimate: a provider that writes every prompt to its cache is held at the price of writes', (t) => {
  const held = (model: string) => estimated({}, { targets: [{ provider: 'openai', model }] }).inputNanoUsd
  // OpenAI, "Prompt caching": from GPT-5.6 on, writes cost 1.25 times the price of input.
  t.is(held('gpt-5.6'), 1332 * 5000)
  t.is(held('gpt-4o'), 1332 * 2500)
})

test('estimate: the dearest target, and all requested choices, count', (t) => {
  const haiku = { provider: 'anthropic', model: 'claude-haiku-4-5' }
  t.is(estimated({}, { targets: [haiku, MODEL], answers: 3 }).outputTokenNanoUsd, 3 * 25_000)
})

test('estimate: the tokens that an amount pays for cost no more than the amount, and one token more does', (t) => {
  const amount = fc.integer({ min: 0, max: 1e12 })
  fc.assert(
    fc.property(amount, fc.integer({ min: 1, max: 1e6 }), amount, (inputNanoUsd, outputTokenNanoUsd, amountNanoUsd) => {
      const of = { inputNanoUsd, outputTokenNanoUsd, inputTokens: 1 }
      const fitting = tokensFor(of, amountNanoUsd)
      t.true(costOf(of, fitting) <= amountNanoUsd)
      t.true(costOf(of, fitting + 1) > amountNanoUsd)
    }),
  )
})

test('estimate: fields of a chat completion beyond its translation count, also after an edit', (t) => {
  const counter = new TokenEstimator()
  const hidden = 'The keeper counts each carriage. '.repeat(100)
  const inputTokensOf = (fields: object, edit?: string) => {
    const messages = [{ role: 'user', content: 'hi' }]
    const body = JSON.stringify({ model: 'm', max_tokens: 9, messages, ...fields })
    const exchange = openExchange({ dialect: 'chat', body, targets: [MODEL] })
    if (edit !== undefined) exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: edit })
    return estimate(exchange, { tokens: counter, prices }, { answers: 1, atMs: NOVEMBER_MS }).inputTokens
  }
  const custom = { tools: [{ type: 'custom', custom: { name: 'f', description: hidden } }] }
  const more = counter.textTokens(hidden, MODEL.model)
  t.true(inputTokensOf(custom) >= inputTokensOf({}) + more)
  t.true(inputTokensOf(custom, hidden) >= inputTokensOf({}) + 2 * more - 1)
  t.true(Math.abs(inputTokensOf({}, hidden) - inputTokensOf({}) - more) <= 3)
})

const tool = fc.record({
  type: fc.constantFrom('custom', 'function'),
  name: fc.stringMatching(/^[a-z]{1,30}$/),
  description: fc.option(fc.string({ maxLength: 40 }), { nil: undefined }),
})
const space = fc.record({
  type: fc.constant('namespace'),
  name: fc.stringMatching(/^[a-z]{1,70}$/),
  tools: fc.array(tool, { maxLength: 30 }),
})
const call = fc.record({
  type: fc.constant('function_call'),
  call_id: fc.stringMatching(/^[a-z]{1,9}$/),
  name: fc.stringMatching(/^[a-z]{1,30}$/),
  namespace: fc.stringMatching(/^[a-z]{1,30}$/),
  arguments: fc.constant('{}'),
})

test('estimate: a Responses request counts as much as its translation at least', (t) => {
  const counter = new TokenEstimator()
  const tools = fc.array(fc.oneof(tool, space), { maxLength: 60 })
  fc.assert(
    fc.property(tools, fc.array(call, { maxLength: 9 }), (offered, calls) => {
      const body = JSON.stringify({ model: 'm', input: [{ role: 'user', content: 'hi' }, ...calls], tools: offered })
      for (const provider of ['anthropic', 'openrouter', 'gemini', 'openai']) {
        const target = { provider, model: 'claude-sonnet-4-5' }
        const exchange = openExchange({ dialect: 'responses', body, targets: [target] })
        const model = provider === 'anthropic' ? target.model : `${provider}/${target.model}`
        const held = estimate(exchange, { tokens: counter, prices }, { answers: 1, atMs: NOVEMBER_MS }).inputTokens
        t.true(held >= counter.inputTokens(exchange.client.canonical, model))
      }
    }),
    { numRuns: 40 },
  )
})

test('estimate: a size that may be on either side of a price step has the dearer price', (t) => {
  const targets = [{ provider: 'anthropic', model: 'claude-sonnet-4-5' }] as const
  const bySize = (bytes: number) => {
    const content = 'The keeper counts each carriage. '.repeat(bytes / 33)
    const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] })
    const exchange = openExchange({ dialect: 'messages', body, targets: [...targets] })
    const services = { tokens: new TokenEstimator(), prices }
    const terms = { answers: 1, atMs: NOVEMBER_MS }
    const [size, weight] = [estimateBySize(exchange, services, terms), estimate(exchange, services, terms)]
    return size && size.inputNanoUsd / weight.inputNanoUsd
  }
  const stepped = bySize(300_000) ?? 0
  t.true(stepped > 4.5 && stepped <= 9, String(stepped))
  for (const bytes of [20_000, 150_000, 900_000]) t.true((bySize(bytes) ?? 9) <= 4.5, String(bySize(bytes)))
})

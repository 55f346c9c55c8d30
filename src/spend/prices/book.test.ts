import test from 'ava'
import { bookOf, CEILING, NOVEMBER_MS, usageOf } from '../../../test/support/price-usage.ts'
import { readUsage } from '../../core/reply/usage.ts'

const THOUSAND_OF_EACH = usageOf({
  inputTokens: 1000,
  outputTokens: 1000,
  cacheReadInputTokens: 1000,
  cacheCreation: { ephemeral5m: 1000, ephemeral1h: 1000 },
})
const MILLION_IN = usageOf({ inputTokens: 1_000_000 })
const NANO_PER_USD = 1_000_000_000

/** USD per million: input, output, read, written for 5 minutes, for an hour. From the providers' pages. */
const LIST: Readonly<Record<string, readonly number[]>> = {
  'anthropic/claude-opus-4-5': [5, 25, 0.5, 6.25, 10],
  'anthropic/claude-opus-4-6': [5, 25, 0.5, 6.25, 10],
  'anthropic/claude-opus-4-7': [5, 25, 0.5, 6.25, 10],
  'anthropic/claude-opus-4-8': [5, 25, 0.5, 6.25, 10],
  'anthropic/claude-opus-5': [5, 25, 0.5, 6.25, 10],
  'anthropic/claude-opus-4-1': [15, 75, 1.5, 18.75, 30],
  'anthropic/claude-sonnet-4-0': [3, 15, 0.3, 3.75, 6],
  'anthropic/claude-sonnet-4-5': [3, 15, 0.3, 3.75, 6],
  'anthropic/claude-sonnet-4-5-20250929': [3, 15, 0.3, 3.75, 6],
  'anthropic/claude-sonnet-4-6': [3, 15, 0.3, 3.75, 6],
  'anthropic/claude-sonnet-5': [2, 10, 0.2, 2.5, 4],
  'anthropic/claude-haiku-4-5': [1, 5, 0.1, 1.25, 2],
  'anthropic/claude-fable-5': [10, 50, 1, 12.5, 20],
  'anthropic/claude-fable-5-1': [10, 50, 0.25, 12.5, 20],
  'anthropic/claude-opus-5-5': [4, 20, 0.2, 5, 8],
  'openai/gpt-5': [1.25, 10, 0.125, 1.25, 1.25],
  'openai/gpt-5-mini-2025-08-07': [0.25, 2, 0.025, 0.25, 0.25],
  'openai/gpt-5.5': [5, 30, 0.5, 5, 5],
  'gemini/gemini-2.5-flash': [0.3, 2.5, 0.03, 0.3, 0.3],
  'gemini/gemini-2.5-pro': [1.25, 10, 0.125, 1.25, 1.25],
  'vertex/claude-sonnet-4-5@20250929': [3, 15, 0.3, 3.75, 6],
  'bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0': [3, 15, 0.3, 3.75, 6],
  'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': [3.3, 16.5, 0.33, 4.125, 6.6],
  'openrouter/anthropic/claude-sonnet-4.5': [3, 15, 0.3, 3.75, 6],
  'groq/llama-3.3-70b-versatile': [0.59, 0.79, 0.59, 0.59, 0.59],
  'xai/grok-4': [3, 15, 0.75, 3, 3],
  'my-proxy/claude-haiku-4-5': [1, 5, 0.1, 1.25, 2],
}

function targetOf(name: string) {
  const slash = name.indexOf('/')
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}

for (const [name, usdPerMillion] of Object.entries(LIST)) {
  test(`prices: ${name} costs what its provider lists`, async (t) => {
    const price = bookOf().price(targetOf(name), THOUSAND_OF_EACH, NOVEMBER_MS)
    t.is(price.costNanoUsd, Math.round(usdPerMillion.reduce((sum, usd) => sum + usd, 0) * 1_000_000))
    t.is(price.source, 'catalogue')
    t.truthy(price.matched)
  })
}

test('prices: a bill is the sum of its parts, computed by hand', async (t) => {
  const usage = usageOf({
    inputTokens: 10,
    outputTokens: 200,
    cacheReadInputTokens: 100,
    cacheCreation: { ephemeral5m: 20, ephemeral1h: 30 },
    webSearchRequests: 2,
    webFetchRequests: 5,
  })
  const price = bookOf().price(targetOf('anthropic/claude-sonnet-4-5'), usage, NOVEMBER_MS)
  const searches = 2 * 10_000_000
  t.is(price.costNanoUsd, 10 * 3000 + 200 * 15_000 + 100 * 300 + 20 * 3750 + 30 * 6000 + searches)
  t.is(price.matched, 'anthropic/claude-sonnet-4-5')
})

test('prices: cache writes without a lifetime count as 5 minutes', async (t) => {
  const usage = usageOf({ cacheCreationInputTokens: 1000 })
  t.is(bookOf().price(targetOf('anthropic/claude-haiku-4-5'), usage, NOVEMBER_MS).costNanoUsd, 1_250_000)
})

test('prices: a fraction of a nano-USD is rounded up, once', async (t) => {
  const book = bookOf([{ model: 'tiny', input: 0.0003, output: 0.0003 }])
  const cost = (inputTokens: number) =>
    book.price(targetOf('x/tiny'), usageOf({ inputTokens }), NOVEMBER_MS).costNanoUsd
  t.deepEqual([1, 3, 4, 10, 11].map(cost), [1, 1, 2, 3, 4])
})

test('prices: above 200,000 input tokens, cached ones included, all of the call has the higher price', async (t) => {
  const book = bookOf()
  const cost = (inputTokens: number) => {
    const usage = usageOf({ inputTokens, cacheReadInputTokens: 100_000, outputTokens: 10 })
    return book.price(targetOf('anthropic/claude-sonnet-4-5'), usage, NOVEMBER_MS).costNanoUsd
  }
  t.is(cost(100_000), 100_000 * 3000 + 100_000 * 300 + 10 * 15_000)
  t.is(cost(100_001), 100_001 * 6000 + 100_000 * 600 + 10 * 22_500)
})

test('prices: a changed price applies from its date', async (t) => {
  const book = bookOf()
  const cost = (atMs: number) => {
    const usage = usageOf({ inputTokens: 300_000 })
    return book.price(targetOf('anthropic/claude-sonnet-4-6'), usage, atMs).costNanoUsd
  }
  t.is(cost(Date.UTC(2026, 2, 12, 23, 59)), 300_000 * 6000)
  t.is(cost(Date.UTC(2026, 2, 13)), 300_000 * 3000)
})

test('prices: a price by the hour is that of the hour', async (t) => {
  const book = bookOf()
  const source = targetOf('deepseek/deepseek-chat')
  const cost = (hour: number) => book.price(source, MILLION_IN, Date.UTC(2026, 10, 20, hour)).costNanoUsd
  t.is(cost(20), 135_000_000)
  t.is(cost(12), 270_000_000)
})

for (const [name, words, times] of [
  ['anthropic/claude-opus-4-8', { serviceTier: 'standard', inferenceGeo: 'global' }, 1],
  ['anthropic/claude-opus-4-8', { inferenceGeo: 'not_available' }, 1],
  ['anthropic/claude-opus-4-8', { serviceTier: 'batch' }, 0.5],
  ['anthropic/claude-opus-4-8', { inferenceGeo: 'us' }, 1.1],
  ['anthropic/claude-opus-4-8', { speed: 'fast' }, 2],
  ['anthropic/claude-opus-4-6', { speed: 'fast', inferenceGeo: 'us' }, 6.6],
  ['anthropic/claude-opus-4-8', { serviceTier: 'priority' }, 1],
  ['openai/gpt-5', { serviceTier: 'priority' }, 2],
  ['openai/gpt-5.5-2026-04-23', { serviceTier: 'fast' }, 2.5],
  ['openai/gpt-5', { serviceTier: 'flex' }, 0.5],
  ['gemini/gemini-2.5-pro', { serviceTier: 'priority' }, 2],
  ['bedrock/amazon.nova-pro-v1:0', { serviceTier: 'priority' }, 1.75],
  ['nobody/knows', { serviceTier: 'batch' }, 1],
  ['nobody/knows', { speed: 'fast' }, 6],
] as const) {
  test(`prices: ${name} as ${JSON.stringify(words)} costs ${times} times as much`, async (t) => {
    const book = bookOf()
    const cost = (terms: object) =>
      book.price(targetOf(name), { ...usageOf({ inputTokens: 100_000 }), ...terms }, NOVEMBER_MS).costNanoUsd
    t.is(cost(words), Math.round(cost({}) * times))
    t.true(cost({}) > 0)
  })
}

test('prices: terms change the price of tokens, not of searches', async (t) => {
  const usage = usageOf({ webSearchRequests: 3, serviceTier: 'batch', speed: 'fast' })
  t.is(bookOf().price(targetOf('anthropic/claude-opus-5'), usage, NOVEMBER_MS).costNanoUsd, 30_000_000)
})

for (const name of [
  'my-vllm/llama-of-my-own',
  'openai/gpt-99',
  'anthropic/claude-nonsense-9',
  'openai/whisper-1',
  '/',
  'openai/',
]) {
  test(`prices: ${name} has no known price, so it costs the ceiling and is marked as such`, async (t) => {
    const price = bookOf().price(targetOf(name), MILLION_IN, NOVEMBER_MS)
    t.deepEqual(price, { costNanoUsd: CEILING.input * NANO_PER_USD, source: 'ceiling', matched: undefined })
  })
}

test('prices: searches of unknown price cost the ceiling and are marked as such', async (t) => {
  const book = bookOf()
  const usage = usageOf({ inputTokens: 1000, webSearchRequests: 1 })
  const target = targetOf('groq/llama-3.3-70b-versatile')
  t.deepEqual(book.price(target, usage, NOVEMBER_MS), {
    costNanoUsd: 590_000 + 35_000_000,
    source: 'ceiling',
    matched: 'groq/llama-3.3-70b-versatile',
  })
})

test('prices: a similar name is not taken for a provider', async (t) => {
  const price = bookOf().price(targetOf('not-openai/llama'), MILLION_IN, NOVEMBER_MS)
  t.is(price.source, 'ceiling')
})

test('prices: a model that its provider gives away is free', async (t) => {
  const price = bookOf().price(targetOf('openrouter/deepseek/deepseek-r1:free'), MILLION_IN, NOVEMBER_MS)
  t.deepEqual(price, { costNanoUsd: 0, source: 'catalogue', matched: 'openrouter/deepseek/deepseek-r1:free' })
})

test('prices: a fee for every call is part of the bill', async (t) => {
  const price = bookOf().price(targetOf('perplexity/sonar-pro'), usageOf({ inputTokens: 1 }), NOVEMBER_MS)
  t.is(price.costNanoUsd, 3000 + 14_000_000)
})

test('prices: a compaction and an advisor inside a call are billed, although its counts leave them out', async (t) => {
  const raw = {
    input_tokens: 1000,
    output_tokens: 100,
    iterations: [
      { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 },
      { type: 'message', input_tokens: 1000, output_tokens: 100 },
      { type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 50, output_tokens: 5 },
    ],
  }
  const usage = readUsage(raw)
  if (usage === undefined) return t.fail()
  const price = bookOf().price(targetOf('anthropic/claude-haiku-4-5'), usage, NOVEMBER_MS)
  t.is(price.costNanoUsd, 181_000 * 1000 + 3600 * 5000 + 50 * 5000 + 5 * 25_000)
})

test('prices: absurd counts stay a safe integer', async (t) => {
  const usage = usageOf({ inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER })
  t.is(bookOf().price(targetOf('a/b'), usage, NOVEMBER_MS).costNanoUsd, Number.MAX_SAFE_INTEGER)
})

import test from 'ava'
import fc from 'fast-check'
import { bookOf, NOVEMBER_MS, usageOf } from '../../../test/support/price-usage.ts'
import type { Usage } from '../../core/reply/usage.ts'

const book = bookOf([{ model: 'house', input: 0.0375, output: 0.1, web_search: 3, web_fetch: 0.5, factor: 0.77 }])

const target = fc.constantFrom(
  { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  { provider: 'anthropic', model: 'claude-opus-4-6' },
  { provider: 'openai', model: 'gpt-5.5' },
  { provider: 'gemini', model: 'gemini-2.5-pro' },
  { provider: 'bedrock', model: 'us.anthropic.claude-opus-4-8' },
  { provider: 'deepseek', model: 'deepseek-chat' },
  { provider: 'openrouter', model: 'google/gemini-2.5-flash-image' },
  { provider: 'mine', model: 'house' },
  { provider: 'mine', model: 'unknown' },
)
const tokens = fc.oneof(fc.nat(300_000), fc.constantFrom(0, 1, 199_999, 200_000, 200_001, 272_000))
const terms = fc.record(
  {
    serviceTier: fc.constantFrom('standard', 'batch', 'flex', 'priority', 'fast'),
    inferenceGeo: fc.constantFrom('us', 'global', 'mars'),
    speed: fc.constantFrom('fast', 'standard'),
  },
  { requiredKeys: [] },
)
const counts = fc
  .record({
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadInputTokens: tokens,
    cacheCreation: fc.record({ ephemeral5m: tokens, ephemeral1h: tokens }),
    webSearchRequests: fc.nat(20),
    webFetchRequests: fc.nat(20),
  })
  .map(usageOf)
const moment = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) })

function inputOf(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens
}

function sumOf(a: Usage, b: Usage): Usage {
  const lifetime = (name: 'ephemeral5m' | 'ephemeral1h') =>
    (a.cacheCreation?.[name] ?? 0) + (b.cacheCreation?.[name] ?? 0)
  return usageOf({
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadInputTokens: a.cacheReadInputTokens + b.cacheReadInputTokens,
    cacheCreation: { ephemeral5m: lifetime('ephemeral5m'), ephemeral1h: lifetime('ephemeral1h') },
    webSearchRequests: a.webSearchRequests + b.webSearchRequests,
    webFetchRequests: a.webFetchRequests + b.webFetchRequests,
  })
}

test('prices: a bill is a safe integer of 0 or more, and 0 only for nothing', (t) => {
  fc.assert(
    fc.property(target, counts, moment, (asked, usage, atMs) => {
      const { costNanoUsd } = book.price(asked, usage, atMs)
      const isNothing = inputOf(usage) + usage.outputTokens + usage.webSearchRequests === 0
      return Number.isSafeInteger(costNanoUsd) && costNanoUsd >= 0 && (costNanoUsd > 0 || isNothing)
    }),
    { numRuns: 500 },
  )
  t.is(book.price({ provider: 'mine', model: 'unknown' }, usageOf(), NOVEMBER_MS).costNanoUsd, 0)
})

test('prices: more of anything never costs less', (t) => {
  fc.assert(
    fc.property(target, counts, counts, (asked, usage, more) => {
      const less = book.price(asked, usage, NOVEMBER_MS).costNanoUsd
      return book.price(asked, sumOf(usage, more), NOVEMBER_MS).costNanoUsd >= less
    }),
    { numRuns: 500 },
  )
  t.pass()
})

test('prices: two bills exceed one bill for both by at most one nano-USD, within a tier', (t) => {
  const small = fc.record({ inputTokens: fc.nat(20_000), outputTokens: tokens, cacheReadInputTokens: fc.nat(20_000) })
  fc.assert(
    fc.property(target, small, small, (asked, a, b) => {
      const cost = (usage: Usage) => book.price(asked, usage, NOVEMBER_MS).costNanoUsd
      const [one, other] = [usageOf(a), usageOf(b)]
      const difference = cost(one) + cost(other) - cost(sumOf(one, other))
      return difference === 0 || difference === 1
    }),
    { numRuns: 500 },
  )
  t.pass()
})

test('prices: no usage of a call costs more than its bounds, however its input is split', (t) => {
  fc.assert(
    fc.property(target, counts, terms, moment, (asked, usage, words, atMs) => {
      const rates = book.rates(asked, { inputTokens: inputOf(usage), ...words }, atMs)
      const bound =
        usage.inputTokens * rates.inputNanoUsd +
        usage.cacheReadInputTokens * rates.cacheReadNanoUsd +
        (usage.cacheCreation?.ephemeral5m ?? 0) * rates.cacheWrite5mNanoUsd +
        (usage.cacheCreation?.ephemeral1h ?? 0) * rates.cacheWrite1hNanoUsd +
        usage.outputTokens * rates.outputNanoUsd +
        usage.webSearchRequests * rates.webSearchNanoUsd +
        usage.webFetchRequests * rates.webFetchNanoUsd +
        rates.callNanoUsd
      return book.price(asked, { ...usage, ...words }, atMs).costNanoUsd <= bound
    }),
    { numRuns: 1000 },
  )
  t.pass()
})

test('prices: the bounds of a larger call apply to a smaller one', (t) => {
  fc.assert(
    fc.property(target, tokens, tokens, (asked, a, b) => {
      const [small, large] = [Math.min(a, b), Math.max(a, b)].map((size) =>
        book.rates(asked, { inputTokens: size }, NOVEMBER_MS),
      )
      return (
        (small?.inputNanoUsd ?? 1) <= (large?.inputNanoUsd ?? 0) &&
        (small?.outputNanoUsd ?? 1) <= (large?.outputNanoUsd ?? 0)
      )
    }),
  )
  t.pass()
})

test('prices: bounds are those of the step that a call reaches, and of its terms', (t) => {
  const sonnet = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
  t.deepEqual(book.rates(sonnet, { inputTokens: 200_000 }, NOVEMBER_MS), {
    inputNanoUsd: 3000,
    cacheReadNanoUsd: 300,
    cacheWrite5mNanoUsd: 3750,
    cacheWrite1hNanoUsd: 6000,
    outputNanoUsd: 15_000,
    webSearchNanoUsd: 10_000_000,
    webFetchNanoUsd: 0,
    callNanoUsd: 0,
  })
  t.like(book.rates(sonnet, { inputTokens: 200_001 }, NOVEMBER_MS), { inputNanoUsd: 6000, outputNanoUsd: 22_500 })
  t.like(book.rates(sonnet, { inputTokens: 1, inferenceGeo: 'us' }, NOVEMBER_MS), { inputNanoUsd: 3300 })
  t.like(book.rates({ provider: 'mine', model: 'unknown' }, { inputTokens: 1 }, NOVEMBER_MS), {
    inputNanoUsd: 15_000,
  })
})

test('prices: the classes of a cost add up to it, to the nano-dollar', (t) => {
  const thinking = fc.nat(400_000)
  fc.assert(
    fc.property(target, counts, thinking, terms, moment, (asked, usage, thought, words, atMs) => {
      const raw = { ...usage.raw, output_tokens_details: { thinking_tokens: thought } }
      const all = { ...usage, ...words, raw }
      const classes = Object.values(book.split(asked, all, atMs))
      const sum = classes.reduce((total, part) => total + part, 0)
      return sum === book.price(asked, all, atMs).costNanoUsd && classes.every((part) => part >= 0)
    }),
    { numRuns: 500 },
  )
  t.pass()
})

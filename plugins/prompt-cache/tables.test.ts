import test from 'ava'
import type { Exchange } from 'turnpike/plugin'
import type { Prices } from 'turnpike/plugin/spend'
import { cacheTraitsOf } from './cache-traits.ts'
import { lifetimeOfShared, lifetimeOfTail } from './economics.ts'
import { termsOf } from './terms.ts'

const PRICES = { read: 0.1, write: { '5m': 1.25, '1h': 2 } }

const MODELS: readonly (readonly [
  provider: string,
  model: string,
  leastTokens: number | undefined,
  takesHour: boolean,
])[] = [
  ['anthropic', 'claude-sonnet-4-5-20250929', 1024, true],
  ['anthropic', 'claude-sonnet-4-20250514', 1024, true],
  ['anthropic', 'claude-sonnet-4-6', 1024, true],
  ['anthropic', 'claude-opus-4-1', 1024, true],
  ['anthropic', 'claude-opus-4-5', 4096, true],
  ['anthropic', 'claude-opus-latest', 1024, true],
  ['anthropic', 'claude-haiku-4-5', 4096, true],
  ['anthropic', 'claude-3-5-haiku-20241022', 2048, true],
  ['vertex', 'claude-sonnet-4-5@20250929', 1024, true],
  ['bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 1024, true],
  ['bedrock', 'anthropic.claude-3-7-sonnet-20250219-v1:0', 1024, false],
  ['bedrock', 'anthropic.claude-3-sonnet-20240229-v1:0', undefined, false],
  ['openai', 'gpt-5.5', undefined, false],
  ['openai', 'gpt-5.6', 1024, false],
  ['openai', 'gpt-6-mini', 1024, false],
]
for (const [provider, model, leastTokens, takesHour] of MODELS)
  test(`cache traits: ${provider}/${model}`, (t) => {
    const expected =
      leastTokens === undefined
        ? undefined
        : { writes: provider === 'openai' ? 'all' : 'marked', leastTokens, takesHour }
    t.deepEqual(cacheTraitsOf({ provider, model }), expected)
  })

const TARGETS = {
  older: { provider: 'bedrock', model: 'anthropic.claude-3-7-sonnet-20250219-v1:0' },
  newer: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
}
const RATES = { inputNanoUsd: 1000, outputNanoUsd: 5000, cacheReadNanoUsd: 100 }

/** Returns whether marks of an hour can pay for a request to these targets. */
function canPayHour(...targets: readonly (typeof TARGETS.older)[]): boolean {
  const shape = { cacheMarks: 'none', fields: new Set() }
  const document = { shape, bytes: Buffer.from('{}'), field: () => undefined }
  const exchange = { targets, target: targets[0], request: { shape }, client: { document }, trace: [] }
  const prices = { rates: () => ({ ...RATES, cacheWrite5mNanoUsd: 1250, cacheWrite1hNanoUsd: 2000 }) }
  // Safe: all that terms are read from.
  const given = { prices: prices as unknown as Prices, longest: '1h', nowMs: 0 } as const
  const terms = termsOf(exchange as unknown as Exchange, given)
  return typeof terms !== 'string' && Number.isFinite(terms.prices.write['1h'])
}

test('terms: marks of an hour are for requests whose targets all take them', (t) => {
  t.true(canPayHour(TARGETS.newer))
  t.false(canPayHour(TARGETS.older))
  t.false(canPayHour(TARGETS.newer, TARGETS.older))
  t.false(canPayHour(TARGETS.older, TARGETS.newer))
})

const SHARED: readonly (readonly [soon: number, later: number, lifetime: string | undefined])[] = [
  [0, 0, undefined],
  // 0.28 expected reads: a chance of 0.22 after each arrival.
  [0.21, 0.21, undefined],
  [0.23, 0.23, '5m'],
  // 1.11 expected reads: a chance of 0.53.
  [0, 0.52, undefined],
  [0, 0.54, '1h'],
  [0.5, 0.95, '1h'],
  [0.9, 0.95, '1h'],
  [0.9, 0.92, '5m'],
  [1, 1, '5m'],
]
for (const [soon, later, lifetime] of SHARED)
  test(`lifetimes: ${lifetime} where ${soon} arrive within 5 minutes and ${later} within an hour`, (t) => {
    t.is(lifetimeOfShared({ soon, later }, PRICES), lifetime as never)
  })

test('lifetimes: the end of a conversation gets an hour where a pause would lose much more than it adds', (t) => {
  const odds = { soon: 0.8, later: 0.9 }
  t.is(lifetimeOfTail({ odds, newTokens: 1000, notForAnHourTokens: 50_000 }, PRICES), '1h')
  t.is(lifetimeOfTail({ odds, newTokens: 1000, notForAnHourTokens: 1000 }, PRICES), '5m')
  t.is(
    lifetimeOfTail({ odds: { soon: 0.2, later: 0.2 }, newTokens: 1000, notForAnHourTokens: 1000 }, PRICES),
    undefined,
  )
})

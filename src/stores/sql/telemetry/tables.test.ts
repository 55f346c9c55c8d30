import test from 'ava'
import { sumByHour } from './hours.ts'

const HOUR_MS = 3_600_000
const ROW = {
  ...{
    scope: 's',
    started_at_ms: 2.5 * HOUR_MS,
    provider: 'p' as string | null,
    model_served: 'm' as string | null,
    status: 200 as number | null,
  },
  ...{
    outcome: 'complete',
    cache: 'none',
    input_tokens: 1,
    output_tokens: 2,
    cache_read_tokens: 3,
    cache_write_tokens: 4,
  },
  ...{
    cost_nano_usd: 10 as number | null,
    counterfactual_nano_usd: 15 as number | null,
    counterfactual_basis: 'same',
    price_source: 'catalogue',
  },
  ...{ counterfactual_at_most_nano_usd: null as number | null, gateway_us: 900, provider_us: 50 as number | null },
}

/** Returns the sums of rows with these changes that are not zero, without the key. Safe: all that is read. */
function sums(...changes: Partial<typeof ROW>[]) {
  return sumByHour(changes.map((change) => ({ ...ROW, ...change })) as never).map((hour) =>
    Object.fromEntries(
      Object.entries(hour).filter(([name, value]) => typeof value === 'number' && value !== 0 && name !== 'hour_ms'),
    ),
  )
}

const PLAIN = {
  ...{ requests: 1, input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4, cost_nano_usd: 10 },
  ...{ saved_nano_usd: 5, gateway_us: 900, provider_us: 50, asked: 1, gateway_class_3: 1 },
}

test('sums by hour: what each request adds', (t) => {
  const rows: [change: Partial<typeof ROW>, expected: object][] = [
    [{}, {}],
    [{ outcome: 'incomplete' }, { unfinished: 1 }],
    [{ outcome: 'cancelled' }, { unfinished: 1 }],
    [{ outcome: 'error' }, { errors: 1 }],
    [{ status: 400 }, { errors: 1 }],
    [{ status: 399 }, {}],
    [{ status: null, outcome: 'incomplete' }, { unfinished: 1 }],
    [{ cache: 'hit' }, { cache_hits: 1 }],
    [{ cache: 'attached' }, { cache_attached: 1 }],
    [{ cache: 'miss' }, { cache_misses: 1 }],
    [{ counterfactual_basis: 'estimate' }, { saved_estimate_nano_usd: 5 }],
    [{ price_source: 'ceiling' }, { ceiling_nano_usd: 10 }],
    [{ counterfactual_at_most_nano_usd: 22 }, { saved_more_nano_usd: 7 }],
    [{ counterfactual_at_most_nano_usd: 12 }, {}],
    [{ input_tokens: 2e12 }, { input_tokens: 1e12 }],
    [{ gateway_us: 1000 }, { gateway_us: 1000 }],
  ]
  for (const [change, expected] of rows) t.deepEqual(sums(change), [{ ...PLAIN, ...expected }], JSON.stringify(change))
  const { cost_nano_usd: _, saved_nano_usd: __, ...free } = PLAIN
  t.deepEqual(sums({ cost_nano_usd: null, price_source: 'ceiling' }), [{ ...free, unpriced: 1 }])
  const { provider_us: ___, asked: ____, ...alone } = PLAIN
  t.deepEqual(sums({ provider_us: null }), [alone])
  t.deepEqual(sums({ outcome: 'refused' }), [{ requests: 1, errors: 1 }], 'a refused one has used nothing')
})

test('sums by hour: one for each scope, hour, provider and model, in one order; errors have no model', (t) => {
  const keys = (...changes: Partial<typeof ROW>[]) =>
    sumByHour(changes.map((change) => ({ ...ROW, ...change })) as never).map(
      ({ scope, hour_ms, provider, model, requests }) =>
        [scope, hour_ms / HOUR_MS, provider, model, requests].join(' '),
    ) // safe: all that is read
  t.deepEqual(keys({}, { started_at_ms: 3 * HOUR_MS - 1 }, { started_at_ms: 2 * HOUR_MS }), ['s 2 p m 3'])
  const changes = [
    { started_at_ms: 3 * HOUR_MS },
    { scope: 'a' },
    {},
    { provider: null },
    { status: 500 },
    { model_served: null },
  ]
  const expected = ['a 2 p m 1', 's 2  m 1', 's 2 p  2', 's 2 p m 1', 's 3 p m 1']
  t.deepEqual(keys(...changes).sort(), expected)
  t.deepEqual(keys(...changes.toReversed()), keys(...changes), 'hours are locked in one order')
})

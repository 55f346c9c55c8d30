import fc from 'fast-check'
import type { LossReason } from '../../../src/core/telemetry/prefix-loss.ts'
import type { FinishedRequest, UsageSums } from '../../../src/core/telemetry/telemetry.ts'
import { gatewayClassOf } from '../../../src/core/telemetry/time-buckets.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import { openTelemetryStore, type SqlTelemetry } from '../../../src/stores/sql/telemetry/telemetry.ts'
import { isDrill } from '../../support/drill.ts'
import { sampleRequest } from '../../support/telemetry.ts'
import { engines } from './places.ts'
import { openTelemetry } from './shared-telemetry.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The beginning of a day. */
const DAY_BEGINS_MS = 1_795_305_600_000

let scopes = 0
const newScope = () => `scope-${++scopes}`

const put = (telemetry: SqlTelemetry, requests: readonly FinishedRequest[]) =>
  telemetry.run('telemetry.put', requests.map(toRow))

/** Adds up as the database should, from the requests themselves. */
function sumOf(requests: readonly FinishedRequest[]): Omit<UsageSums, 'fromMs' | 'provider' | 'model'> {
  const sum = (of: (request: FinishedRequest) => number) => requests.reduce((total, each) => total + of(each), 0)
  const count = (is: (request: FinishedRequest) => boolean) => requests.filter(is).length
  const saved = ({ costNanoUsd: cost, counterfactualNanoUsd: without }: FinishedRequest) =>
    cost === null || without === null ? 0 : without - cost
  const more = ({ costNanoUsd: cost, counterfactualNanoUsd: without, ...each }: FinishedRequest) => {
    const { counterfactualAtMostNanoUsd: most } = each
    return cost === null || without === null || most === null ? 0 : Math.max(0, most - without)
  }
  const times = Array.from({ length: 16 }, () => 0)
  for (const { gatewayMs } of requests) times[gatewayClassOf(gatewayMs)]!++
  return {
    requests: requests.length,
    errors: count(({ outcome }) => outcome === 'error'),
    unfinished: count(({ outcome }) => outcome === 'incomplete' || outcome === 'cancelled'),
    cacheHits: count(({ cache }) => cache === 'hit'),
    cacheAttached: count(({ cache }) => cache === 'attached'),
    cacheMisses: count(({ cache }) => cache === 'miss'),
    tokens: {
      input: sum(({ tokens }) => tokens?.input ?? 0),
      output: sum(({ tokens }) => tokens?.output ?? 0),
      cacheRead: sum(({ tokens }) => tokens?.cacheRead ?? 0),
      cacheWrite: sum(({ tokens }) => tokens?.cacheWrite ?? 0),
    },
    costNanoUsd: sum(({ costNanoUsd }) => costNanoUsd ?? 0),
    ceilingNanoUsd: sum(({ priceSource, costNanoUsd }) => (priceSource === 'ceiling' ? (costNanoUsd ?? 0) : 0)),
    unpriced: count(({ costNanoUsd }) => costNanoUsd === null),
    savedNanoUsd: sum(saved),
    savedEstimateNanoUsd: sum((each) => (each.counterfactualBasis === 'estimate' ? saved(each) : 0)),
    savedMoreNanoUsd: sum(more),
    gatewayMs: sum(({ gatewayMs }) => gatewayMs),
    providerMs: sum(({ providerMs }) => providerMs ?? 0),
    asked: count(({ providerMs }) => providerMs !== null),
    gatewayTimes: times,
  }
}

const amount = fc.integer({ min: 0, max: 1e12 })
const tokens = fc.record({
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  cacheWrite1h: amount,
  reasoning: amount,
})
/** Endings: errors are recognised by their status, too. */
const ending = fc.constantFrom(
  { outcome: 'complete', status: 200 } as const,
  { outcome: 'incomplete', status: 200 } as const,
  { outcome: 'cancelled', status: null } as const,
  { outcome: 'error', status: 400 } as const,
)
const served = fc.constantFrom(
  { provider: 'anthropic', modelServed: 'a' },
  { provider: 'anthropic', modelServed: 'b' },
  { provider: null, modelServed: null },
)
const parts = fc.record({
  startedAtMs: fc.integer({ min: DAY_BEGINS_MS, max: DAY_BEGINS_MS + 3 * DAY_MS - 1 }),
  cache: fc.constantFrom('hit', 'attached', 'miss', 'none'),
  tokens: fc.option(tokens),
  costNanoUsd: fc.option(amount),
  counterfactualNanoUsd: fc.option(amount),
  counterfactualAtMostNanoUsd: fc.option(amount),
  priceSource: fc.constantFrom('ceiling', 'catalogue', null),
  counterfactualBasis: fc.constantFrom('same', 'cached-reply', 'estimate'),
  gatewayMs: fc.constantFrom(0, 0.125, 0.5, 3, 700, 6000),
  providerMs: fc.option(fc.integer({ min: 0, max: 100_000 })),
  ending,
  served,
})

const modelOf = ({ outcome, modelServed }: FinishedRequest) => (outcome === 'error' ? '' : (modelServed ?? ''))

for (const engine of engines) {
  engine.test('telemetry: a request is found with its trace by either id, by its scope alone', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const scope = newScope()
    const request = sampleRequest({
      scope,
      keyId: 'key_1',
      userId: 'user_1',
      teamId: 'team_1',
      tags: ['a.b', 'c'],
      status: null,
      outcome: 'cancelled',
      cache: 'attached',
      isStream: true,
      modelServed: null,
      provider: null,
      tokens: null,
      costNanoUsd: null,
      costs: null,
      counterfactualNanoUsd: null,
      providerMs: null,
      trace: {
        steps: [{ module: 'exact-cache', action: 'attached', ms: 0.5, details: { nested: { kept: [1, 'two'] } } }],
        edits: [{ module: 'prune', paths: ['tools.1'], bytesBefore: 9, bytesAfter: 4 }],
        calls: [{ provider: 'p', model: 'm', outcome: 'failed', status: null }],
      },
    })
    await put(telemetry, [request, sampleRequest({ scope })])
    t.deepEqual(await telemetry.find(scope, request.id), request)
    t.deepEqual(await telemetry.find(scope, request.requestId), request)
    t.is(await telemetry.find('another', request.id), undefined)
    t.is(await telemetry.find(scope, 'req_of_nobody'), undefined)
  })

  engine.test('telemetry: a list page by page has each request of the scope once, newest first', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const moments = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 25 })
    const check = async (times: readonly number[], limit: number) => {
      const scope = newScope()
      const requests = times.map((each) => sampleRequest({ scope, startedAtMs: DAY_BEGINS_MS + each }))
      await put(telemetry, [...requests, sampleRequest({ scope: 'another' })])
      const listed: string[] = []
      for (;;) {
        const page = await telemetry.list(scope, { after: listed.at(-1), limit })
        t.true(page.length <= limit)
        if (page.length === 0) break
        t.false('trace' in page[0]!)
        listed.push(...page.map(({ id }) => id))
      }
      t.deepEqual(
        listed,
        requests
          .map(({ id }) => id)
          .toSorted()
          .toReversed(),
      )
    }
    await fc.assert(fc.asyncProperty(moments, fc.integer({ min: 1, max: 10 }), check), { numRuns: isDrill ? 15 : 4 })
  })

  engine.test('telemetry: sums by step, provider and model are those of the requests', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const seen = { estimates: 0, unpriced: 0, errors: 0, shared: 0 }
    const check = async (many: readonly (typeof parts extends fc.Arbitrary<infer Parts> ? Parts : never)[]) => {
      const scope = newScope()
      const requests = many.map(({ ending, served, ...rest }) =>
        sampleRequest({ scope, ...rest, ...ending, ...served }),
      )
      // In two batches, so that hours are made by one and raised by the other.
      await put(telemetry, requests.slice(0, requests.length / 2))
      await put(telemetry, requests.slice(requests.length / 2))
      const range = { fromMs: DAY_BEGINS_MS, toMs: DAY_BEGINS_MS + 3 * DAY_MS }
      for (const stepMs of [HOUR_MS, DAY_MS]) {
        const usage = await telemetry.usage(scope, { ...range, stepMs })
        t.is(
          usage.reduce((sum, each) => sum + each.requests, 0),
          requests.length,
        )
        for (const { fromMs, provider, model, ...sums } of usage) {
          const these = requests.filter(
            (each) =>
              each.startedAtMs - (each.startedAtMs % stepMs) === fromMs &&
              (each.provider ?? '') === provider &&
              modelOf(each) === model,
          )
          if (these.length > 1) seen.shared++
          t.deepEqual(sums, sumOf(these))
          seen.estimates += Number(sums.savedEstimateNanoUsd !== 0)
          seen.unpriced += sums.unpriced
          seen.errors += sums.errors
        }
      }
    }
    // Two days of few models, so that requests do share their sums.
    await fc.assert(fc.asyncProperty(fc.array(parts, { minLength: 20, maxLength: 140, size: 'max' }), check), {
      numRuns: isDrill ? 6 : 2,
    })
    for (const [what, times] of Object.entries(seen)) t.true(times > 0, what)
  })

  engine.test('telemetry: a batch that is put again, in part or whole, changes nothing', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const scope = newScope()
    const range = { fromMs: DAY_BEGINS_MS, toMs: DAY_BEGINS_MS + HOUR_MS, stepMs: HOUR_MS }
    const many = Array.from({ length: 123 }, () => sampleRequest({ scope }))
    await put(telemetry, many.slice(0, 70))
    await put(telemetry, [...many, many[0]!])
    await put(telemetry, many)
    const [sums, ...others] = await telemetry.usage(scope, range)
    t.deepEqual(others, [])
    t.is(sums?.requests, 123)
    t.is(sums?.savedNanoUsd, 123 * 22_000)
  })

  engine.test('telemetry: a range counts the hours that begin in it', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const scope = newScope()
    const at = (hours: number) => sampleRequest({ scope, startedAtMs: DAY_BEGINS_MS + hours * HOUR_MS })
    await put(telemetry, [at(-0.5), at(0), at(0.99), at(1), at(2)])
    const range = { fromMs: DAY_BEGINS_MS + 1, toMs: DAY_BEGINS_MS + 2 * HOUR_MS, stepMs: HOUR_MS }
    t.deepEqual(
      (await telemetry.usage(scope, range)).map(({ fromMs, requests }) => [fromMs - DAY_BEGINS_MS, requests]),
      [
        [0, 2],
        [HOUR_MS, 1],
      ],
    )
  })

  engine.test('telemetry: losses of the prompt cache are summed by reason, the dearest first', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const [scope, other] = [newScope(), newScope()]
    const at = (hours: number, reason: LossReason, nanoUsd: number, of = scope) =>
      sampleRequest({
        scope: of,
        startedAtMs: DAY_BEGINS_MS + hours * HOUR_MS,
        lost: { reason, detail: 'd', tokens: 7, nanoUsd },
      })
    const rows = [at(0, 'key', 1), at(1, 'system', 5), at(2, 'key', 2), at(3, 'tools', 9), at(1, 'system', 50, other)]
    await put(telemetry, [...rows, sampleRequest({ scope, startedAtMs: DAY_BEGINS_MS })])
    const range = { fromMs: DAY_BEGINS_MS, toMs: DAY_BEGINS_MS + 3 * HOUR_MS, stepMs: HOUR_MS }
    t.deepEqual(await telemetry.losses(scope, range), [
      { reason: 'system', requests: 1, tokens: 7, nanoUsd: 5 },
      { reason: 'key', requests: 2, tokens: 14, nanoUsd: 3 },
    ])
    t.like(await telemetry.losses([scope, other], range), [{ reason: 'system', requests: 2, nanoUsd: 55 }])
    t.deepEqual(await telemetry.losses([], range), [])
    await t.throwsAsync(telemetry.losses(scope, { ...range, toMs: 0 }), { code: 'invalid_request' })
  })

  engine.test('telemetry: a range that cannot be is refused in words', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const range = { fromMs: 0, toMs: DAY_MS, stepMs: HOUR_MS }
    const refused = [
      [{ ...range, toMs: 0 }, /whose end lies after/],
      [{ ...range, fromMs: Number.NaN }, /whose end lies after/],
      [{ ...range, stepMs: HOUR_MS + 1 }, /step of whole hours/],
      [{ ...range, stepMs: 0 }, /step of whole hours/],
      [{ ...range, toMs: 1001 * HOUR_MS }, /at most 1000 steps, got 1001/],
    ] as const
    for (const [each, message] of refused)
      await t.throwsAsync(telemetry.usage('mine', each), { code: 'invalid_request', message })
  })

  engine.test('telemetry: nonsense that a provider reports leaves lists and sums readable', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const scope = newScope()
    const most = Number.MAX_SAFE_INTEGER
    const tokens = { input: most, output: most, cacheRead: most, cacheWrite: most, cacheWrite1h: most, reasoning: 0 }
    const odd = () => sampleRequest({ scope, tokens, costNanoUsd: 1e22, counterfactualNanoUsd: most })
    await put(telemetry, [odd(), odd(), odd()])
    t.deepEqual(
      (await telemetry.list(scope, { limit: 10 })).map(({ costNanoUsd, tokens: told }) => [costNanoUsd, told?.input]),
      [
        [null, most],
        [null, most],
        [null, most],
      ],
    )
    const range = { fromMs: DAY_BEGINS_MS, toMs: DAY_BEGINS_MS + HOUR_MS, stepMs: HOUR_MS }
    t.like(await telemetry.usage(scope, range), [{ requests: 3, unpriced: 3, costNanoUsd: 0, tokens: { input: 3e12 } }])
    const { place } = await engine.shared()
    const enough = `update usage_hour set input_tokens = 9223372036854775807 where scope = '${scope}'`
    if (engine.name === 'postgres') {
      await place.sql(enough)
      t.is((await telemetry.usage(scope, range))[0]?.tokens.input, most)
    }
  })

  engine.test('telemetry: what clients may write into names is stored', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const scope = newScope()
    const details = { told: 'a\0b' }
    const odd = sampleRequest({
      scope,
      modelAsked: "x\0'); drop table usage_request; --",
      trace: { steps: [{ module: 'm', action: 'ran', ms: 1, details }], edits: [], calls: [] },
    })
    await put(telemetry, [odd])
    const found = await telemetry.find(scope, odd.id)
    t.is(found?.modelAsked, "x\ufffd'); drop table usage_request; --")
    t.deepEqual(found?.trace.steps[0]?.details, details)
  })

  engine.test('telemetry: a trace that is too long is stored without details, and marked so', async (t) => {
    const telemetry = await openTelemetry(t, engine)
    const scope = newScope()
    const step = { module: 'm', action: 'ran', ms: 1 }
    const trace = { steps: [{ ...step, details: { long: 'x'.repeat(20_000) } }], edits: [], calls: [] }
    const request = sampleRequest({ scope, trace })
    await put(telemetry, [request])
    t.deepEqual((await telemetry.find(scope, request.id))?.trace, { ...trace, steps: [step], isCut: true })
  })

  engine.test('telemetry: a recorded request is stored a moment later, and close stores the queue', async (t) => {
    const { place, store } = await engine.shared()
    const options = { ...place, accounts: store, clock: { nowMs: () => Date.now() } }
    const first = openTelemetryStore(options)
    const scope = newScope()
    const many = Array.from({ length: 1234 }, () => sampleRequest({ scope }))
    for (const request of many) first.record(request)
    await first.close(60_000)
    const second = openTelemetryStore(options)
    t.teardown(() => second.close(0))
    const range = { fromMs: DAY_BEGINS_MS, toMs: DAY_BEGINS_MS + HOUR_MS, stepMs: HOUR_MS }
    t.is((await second.usage(scope, range))[0]?.requests, many.length)
    t.is(await store.run('receipt.get', { id: 'x', scope }), undefined, 'the accounts are still open')
  })
}

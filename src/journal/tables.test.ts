import test from 'ava'
import { openExchange } from '../../test/support/exchange.ts'
import { bookOf, NOVEMBER_MS, usageOf } from '../../test/support/price-usage.ts'
import { GatewayError } from '../core/errors.ts'
import type { FinishedRequest } from '../core/telemetry/telemetry.ts'
import { Metrics } from './metrics/metrics.ts'
import { Distributions, Values } from './metrics/series.ts'
import { billOf } from './receipts/billing.ts'
import { withInput } from './receipts/without-edits.ts'
import { spansOf } from './tracing/spans.ts'

const REQUEST = {
  ...{
    id: 'rcpt_1',
    requestId: 'req_1',
    startedAtMs: 1500,
    totalMs: 300,
    lost: null,
    teamId: null as string | null,
    tags: [] as string[],
    gatewayMs: 20,
    providerMs: 200 as number | null,
  },
  ...{
    status: 200 as number | null,
    outcome: 'complete',
    route: 'chat',
    isStream: false,
    pipeline: 'p',
    cache: 'miss',
    hasReceipt: true,
  },
  ...{
    provider: 'vertex' as string | null,
    modelAsked: 'asked',
    modelServed: 'served',
    costNanoUsd: 5_000_000_000 as number | null,
  },
  ...{ counterfactualNanoUsd: 7_000_000_000, counterfactualBasis: 'estimate' },
  tokens: { input: 1, output: 2, cacheRead: 4, cacheWrite: 8 } as object | null,
  trace: {
    steps: [{ module: 'm', action: 'hit', ms: 3 }],
    calls: [{ provider: 'gemini', outcome: 'answered', status: 200 as number | null }],
  },
}
type Changes = Partial<typeof REQUEST>

/** A finished request with these changes. Safe: no other members are read. */
const finished = (changes: Changes = {}) => ({ ...REQUEST, ...changes }) as unknown as FinishedRequest

test('spans: the times, attributes and faults of a request and its call', (t) => {
  const spans = (changes: Changes = {}) =>
    spansOf(finished(changes), { traceId: 't', parentId: 'up' } as never, {} as never) as never as Record<
      string,
      never
    >[] // safe: passed on
  const [server, call] = spans()
  t.like(server, {
    name: 'POST /v1/chat/completions',
    startTime: [1, 5e8],
    endTime: [1, 8e8],
    duration: [0, 3e8],
    status: { code: 0 },
  })
  t.like(server, { parentSpanContext: { spanId: 'up', isRemote: true } })
  t.like(server?.attributes, {
    'http.route': '/v1/chat/completions',
    'turnpike.receipt_id': 'rcpt_1',
    'turnpike.gateway_ms': 20,
  })
  t.like(server?.events, [{ name: 'turnpike.module.m', attributes: { 'turnpike.action': 'hit', 'turnpike.ms': 3 } }])
  t.like(call, { name: 'chat asked', startTime: [1, 52e7], endTime: [1, 72e7], status: { code: 0 } })
  t.like(call?.attributes, {
    ...{ 'gen_ai.provider.name': 'gcp.vertex_ai', 'gen_ai.response.model': 'served', 'gen_ai.usage.input_tokens': 13 },
    ...{ 'gen_ai.usage.output_tokens': 2, 'gen_ai.usage.cache_read.input_tokens': 4, 'turnpike.calls': 1 },
  })
  t.is(spans({ providerMs: null }).length, 1, 'no provider was called')
  t.deepEqual(spans({ isStream: true })[1]?.endTime, [1, 8e8] as never, 'a stream ends with its end')
  const errorOf = (changes: Changes) => spans(changes).map(({ attributes }) => attributes?.['error.type'])
  t.deepEqual(errorOf({ status: 500 }), ['500', undefined])
  t.deepEqual(errorOf({ status: 499 }), [undefined, undefined])
  t.deepEqual(errorOf({ outcome: 'incomplete', status: null }), ['incomplete', undefined])
  const failed = (status: number | null) =>
    errorOf({ provider: null, trace: { steps: [], calls: [{ provider: 'gemini', outcome: 'failed', status }] } })[1]
  t.deepEqual([failed(503), failed(null)], ['503', 'no_answer'])
  t.like(spans({ teamId: 'team_1', tags: ['a'] })[0]?.attributes, {
    'turnpike.team_id': 'team_1',
    'turnpike.tags': ['a'],
  })
  t.false('turnpike.tags' in (server?.attributes ?? {}))
  t.false('turnpike.receipt_id' in (spans({ hasReceipt: false })[0]?.attributes ?? {}))
})

test('metrics: what a request adds to each series', (t) => {
  const samplesOf = (work: (metrics: Metrics) => void) => {
    const metrics = new Metrics({ version: '1', mode: 'local' })
    work(metrics)
    return JSON.stringify(metrics.snapshot())
  }
  const counted = samplesOf((metrics) => metrics.count(finished()))
  for (const sample of [
    '[["chat","vertex","served","complete","miss"],1]',
    ...['[["vertex","served","input"],1]', '[["vertex","served","output"],2]'],
    ...['[["vertex","served","cache_read"],4]', '[["vertex","served","cache_write"],8]'],
    ...['[["vertex","served"],5]', '[["estimate"],7]', '[["gemini","answered","200"],1]', '[["m","hit"],1]'],
  ])
    t.true(counted.includes(sample), sample)
  t.false(counted.includes('team_1'))
  const owned = samplesOf((metrics) => metrics.count(finished({ teamId: 'team_1', tags: ['a', 'b'] })))
  for (const sample of ['[["team_1","complete"],1]', '[["team_1"],5]', '[["a"],1],[["b"],1]', '[["a"],5],[["b"],5]'])
    t.true(owned.includes(sample), sample)
  const unpriced = samplesOf((metrics) => metrics.count(finished({ costNanoUsd: null, tokens: null, provider: null })))
  t.regex(unpriced, /\[\[\],1\]/)
  t.true(unpriced.includes('["chat","none","served","complete","miss"]'))
  const record = { method: 'GET', status: 404, durationMs: 1 }
  const left = samplesOf((metrics) => {
    metrics.enter()
    metrics.enter()
    metrics.leave({ ...record, error: new GatewayError('not_found', 'x') } as never) // safe: what is read
    metrics.leave({ ...record, route: '/x', error: new Error('x') } as never) // safe: what is read
  })
  for (const sample of [
    '[["GET","unmatched","404"],1]',
    '[["GET","/x","404"],1]',
    '[["not_found"],1]',
    '[["internal_error"],1]',
  ])
    t.true(left.includes(sample), sample)
})

test('series: a value on the edge of a bucket is in it; beyond a thousand series all share one', (t) => {
  const distribution = new Distributions({ kind: 'histogram', help: '', labels: [], buckets: [1, 2] })
  for (const value of [0, 1, 1.5, 2, 3]) distribution.observe(value)
  t.deepEqual(distribution.samples(), [[[], [2, 2, 1, 7.5]]])
  const values = new Values()
  for (let n = 0; n < 1003; n++) values.add(1, 'a', String(n))
  values.add(5, 'a', '0')
  const samples = values.samples()
  t.deepEqual([samples.length, samples[0], samples[1000]], [1001, [['a', '0'], 6], [['other', 'other'], 3]])
})

test('bills: what a request has cost, and would have cost', (t) => {
  const target = { provider: 'anthropic', model: 'claude-haiku-4-5' }
  const bill = (
    calls: [outcome: string, status?: number][],
    { isCounted = true, outcome = 'complete', hasReply = true } = {},
  ) => {
    const exchange = openExchange({
      dialect: 'messages',
      body: '{"model":"m","max_tokens":9,"messages":[]}',
      targets: [target],
    })
    const asked = calls.map(([outcome, status]) => ({ ...target, outcome, status }))
    const reply = hasReply ? {} : undefined
    const shown = {
      calls: asked,
      isEdited: false,
      edits: [],
      target,
      reply,
      client: exchange.client,
      received: exchange.client,
    }
    const { cost, counterfactual } = billOf(
      {
        exchange: shown,
        usage: isCounted ? usageOf({ inputTokens: 1000 }) : undefined,
        served: undefined,
        outcome,
        atMs: NOVEMBER_MS,
      } as never,
      { pricer: bookOf(), tokens: undefined },
    ) // safe: what is read
    return [cost.provider_usd, counterfactual.usd, counterfactual.basis, counterfactual.explained.split(/[ ,.:]/)[0]]
  }
  const [usd, nothing] = ['0.001000000', '0.000000000']
  t.deepEqual(bill([['answered', 200]]), [usd, usd, 'same', 'No'])
  t.deepEqual(bill([]), [nothing, usd, 'cached-reply', 'No'])
  t.deepEqual(bill([['failed', 500]]), [nothing, usd, 'cached-reply', 'No'])
  t.deepEqual(bill([['answered', 200]], { isCounted: false }), [null, null, 'same', 'A'])
  t.deepEqual(bill([['answered', 400]], { isCounted: false }), [nothing, nothing, 'same', 'No'])
  t.deepEqual(bill([['failed']], { isCounted: false, outcome: 'error' }), [nothing, nothing, 'same', 'No'])
  t.deepEqual(bill([], { isCounted: false, outcome: 'cancelled', hasReply: false }), [null, null, 'same', 'The'])
  t.deepEqual(bill([], { isCounted: false }), [nothing, null, 'cached-reply', 'No'])
})

test('bills: input that edits removed, in the shares of the reply’s own', (t) => {
  const shares = (raw: object, cached: object, added: number) => {
    const { least, most } = withInput(usageOf({ inputTokens: 50, ...cached, raw } as never), added) // safe: counts
    return [least, most].map((usage) => [usage.inputTokens, usage.cacheReadInputTokens, usage.cacheCreationInputTokens])
  }
  const cached = { cacheReadInputTokens: 30, cacheCreationInputTokens: 20 }
  const raw = { cache_read_input_tokens: 30 }
  t.deepEqual(shares(raw, cached, 100), [
    [100, 60, 40],
    [100, 60, 40],
  ])
  t.deepEqual(shares(raw, cached, -50), [
    [25, 15, 10],
    [25, 15, 10],
  ])
  t.deepEqual(shares({}, {}, 10), [
    [50, 10, 0],
    [60, 0, 0],
  ])
  t.deepEqual(shares({}, {}, -10), [
    [40, 0, 0],
    [50, 0, 0],
  ])
  const written = { cacheCreation: { ephemeral5m: 5, ephemeral1h: 15 }, cacheCreationInputTokens: 20 }
  const { least } = withInput(usageOf({ ...written, raw: { cache_creation_input_tokens: 20 } }), 20)
  t.deepEqual(least.cacheCreation, { ephemeral5m: 10, ephemeral1h: 30 })
})

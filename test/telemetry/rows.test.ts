import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { telemetryFile } from '../../src/stores/sql/sqlite/location.ts'
import { type Fixture, startFixture } from '../support/cache-fixture.ts'
import { eventually } from '../support/eventually.ts'
import type { Row } from '../support/gateway-database.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { holdEvent } from '../support/provider/script.ts'
import { rowOf, rowsOf } from '../support/telemetry.ts'

const PIPE = 'exact-cache,cost-guard'
const SECRET = 'the secret of the ford'
/** Columns of a row that depend on the clock. */
const TIMES = ['gateway_us', 'total_us'] as const

const endings: (() => Promise<void>)[] = []
/** Opens a fixture whose data folder can be read. */
async function openFixture(config: JsonObject = {}): Promise<{ fixture: Fixture; dataDir: string }> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-telemetry-'))
  const fixture = await startFixture({ config, env: { SVC_DATA_DIR: dataDir } })
  endings.push(async () => {
    await fixture.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  return { fixture, dataDir }
}

const { fixture, dataDir } = await openFixture()
test.after.always('close the fixtures', async () => {
  for (const end of endings) await end()
})

/** Returns the plugins and actions of a row's trace. */
function stepsOf({ trace }: Row): string[] {
  const steps = valueAt(parseJson(String(trace)), 'steps')
  return Array.isArray(steps) ? steps.map((step) => `${valueAt(step, 'module')}:${valueAt(step, 'action')}`) : []
}

const toNanoUsd = (usd: unknown) => Math.round(Number(usd) * 1e9)

for (const stream of [false, true]) {
  const kind = stream ? 'SSE' : 'JSON'
  test(`telemetry: a ${kind} answer and its replay from the cache have a row each, with the figures of their receipts`, async (t) => {
    const prompt = `${SECRET} ${kind}`
    const options = { stream, pipe: PIPE, as: `caller-${kind}` }
    const live = await fixture.ask(prompt, options)
    const replay = await fixture.ask(prompt, options)
    t.deepEqual([live.status, replay.status], [200, 200])
    const [first, second] = [
      await rowOf(dataDir, live.headers['x-svc-receipt']),
      await rowOf(dataDir, replay.headers['x-svc-receipt']),
    ]
    for (const [reply, row] of [
      [live, first],
      [replay, second],
    ] as const) {
      const headers = { authorization: `Bearer caller-${kind}` }
      const found = () => send(fixture.gateway.url, { method: 'GET', path: `/v1/receipts/${row.id}`, headers })
      const receipt = (await found()).json
      t.like(row, {
        request_id: valueAt(receipt, 'request_id'),
        has_receipt: 1,
        key_id: null,
        route: 'messages',
        dialect: 'messages',
        is_stream: Number(stream),
        status: 200,
        outcome: 'complete',
        pipeline: PIPE,
        model_asked: 'claude-sonnet-4-5',
        model_served: 'claude-sonnet-4-5',
        provider: 'anthropic',
        input_tokens: valueAt(receipt, 'usage.input_tokens'),
        output_tokens: valueAt(receipt, 'usage.output_tokens'),
        cost_nano_usd: toNanoUsd(valueAt(receipt, 'cost.provider_usd')),
        counterfactual_nano_usd: toNanoUsd(valueAt(receipt, 'counterfactual.usd')),
        counterfactual_basis: valueAt(receipt, 'counterfactual.basis'),
      })
      t.is(Number(row.gateway_us), Math.round(Number(valueAt(receipt, 'latency.gateway_ms')) * 1000))
      for (const name of TIMES) t.true(Number(row[name]) > 0, name)
      t.false(JSON.stringify([row, reply.headers]).includes(SECRET))
    }
    t.like(first, { cache: 'miss', counterfactual_basis: 'same' })
    t.true(Number(first.provider_us) > 0)
    t.true(Number(first.cost_nano_usd) > 0)
    t.deepEqual(stepsOf(first), ['exact-cache:miss', 'cost-guard:idle'])
    t.like(second, { cache: 'hit', counterfactual_basis: 'cached-reply', cost_nano_usd: 0, provider_us: null })
    t.is(second.counterfactual_nano_usd, first.cost_nano_usd)
    t.deepEqual(stepsOf(second), ['exact-cache:hit'])
    t.not(first.scope, '')
  })
}

test('telemetry: a request that the guard refuses has a row without a model', async (t) => {
  const reply = await fixture.ask('too dear', { pipe: 'cost-guard?per_request=0.000001', as: 'poor' })
  t.is(reply.status, 429)
  const row = await rowOf(dataDir, reply.headers['x-svc-receipt'])
  t.like(row, { status: 429, outcome: 'error', provider: null, model_served: null, input_tokens: 0 })
  t.like(row, { cost_nano_usd: 0, cache: 'none', model_asked: 'claude-sonnet-4-5' })
  t.deepEqual(stepsOf(row), ['cost-guard:ran'])
})

test('telemetry: a stream that its client leaves has a row that shows it', async (t) => {
  const gate = Promise.withResolvers<void>()
  t.teardown(() => gate.resolve())
  fixture.script('left', { kind: 'answer', writes: holdEvent(2, gate.promise) })
  const unread = await fixture.askUnread('left', { pipe: PIPE, as: 'leaver' })
  unread.leave()
  const row = await rowOf(dataDir, unread.headers['x-svc-receipt'])
  t.is(row.is_stream, 1)
  t.true(['cancelled', 'incomplete'].includes(String(row.outcome)), String(row.outcome))
})

test('telemetry: callers share no scope, and sums agree with rows', async (t) => {
  for (const as of ['one', 'two']) await fixture.ask('sum up', { pipe: PIPE, as })
  const two = await fixture.ask('sum up', { pipe: PIPE, as: 'two' })
  const { scope } = await rowOf(dataDir, two.headers['x-svc-receipt'])
  t.like(await rowsOf(dataDir, `select * from usage_hour where scope = '${scope}'`), [
    { requests: 2, cache_hits: 1, cache_misses: 1, provider: 'anthropic', model: 'claude-sonnet-4-5', errors: 0 },
  ])
})

test('telemetry: without receipts a request has its row, and no header', async (t) => {
  const place = await openFixture({ receipts: { enabled: false } })
  const reply = await place.fixture.ask('no receipt', { pipe: PIPE })
  t.is(reply.headers['x-svc-receipt'], undefined)
  await eventually(async () => (await rowsOf(place.dataDir)).length > 0, 'a row')
  const [row] = await rowsOf(place.dataDir)
  t.like(row, { has_receipt: 0, cache: 'miss', status: 200, outcome: 'complete', provider: 'anthropic' })
  t.true(Number(row?.cost_nano_usd) > 0)
})

test('telemetry: switched off, it leaves no file and no thread', async (t) => {
  const place = await openFixture({ telemetry: { enabled: false } })
  t.is((await place.fixture.ask('unseen', { pipe: PIPE })).status, 200)
  await place.fixture.gateway.stop()
  t.false(existsSync(telemetryFile(place.dataDir)))
})

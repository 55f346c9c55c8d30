import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { USUAL_DATABASE_TIMEOUT } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { valueAt } from '../support/json.ts'
import { SHORT_WAIT_MS } from '../support/short-wait.ts'
import { openCostFixtureWith } from './cost-fixture.ts'

/** Limits the wait of a caller while the database does not answer. */
const waiting = { timeoutMs: SHORT_WAIT_MS }
const cost = await openCostFixtureWith(startGatewayProcess, { env: USUAL_DATABASE_TIMEOUT })
test.after.always(() => cost.close())

test.serial('store down: guarded requests are 503 while it is down, others run, and nothing stays held', async (t) => {
  t.is((await cost.ask(cost.fixture.scenario(), { as: t.title, prompt: 'before' })).status, 200)
  await cost.settled(t.title)
  const other = new DatabaseSync(path.join(cost.dataDir, 'turnpike.db'), { timeout: 5000 })
  other.exec('begin exclusive')
  const scenario = cost.fixture.scenario()
  try {
    const [json, stream, unguarded, unbounded, perRequest] = await Promise.all([
      cost.ask(scenario, { ...waiting, as: t.title }),
      cost.ask(scenario, { ...waiting, as: t.title, stream: true, dialect: 'chat' }),
      cost.ask(cost.fixture.scenario(), { ...waiting, as: t.title, pipe: 'none' }),
      cost.ask(cost.fixture.scenario(), { ...waiting, as: t.title, pipe: 'cost-guard' }),
      cost.ask(cost.fixture.scenario(), { ...waiting, as: t.title, guard: 'per_request=1' }),
    ])
    for (const { status, json: body, headers } of [json, stream]) {
      t.is(status, 503)
      t.is(valueAt(body, 'error.type'), 'service_unavailable')
      t.truthy(headers['retry-after'])
    }
    t.deepEqual([unguarded.status, unbounded.status, perRequest.status], [200, 200, 200])
    t.is(scenario.seen('anthropic').length + scenario.seen('openai').length, 0)
  } finally {
    other.exec('rollback')
    other.close()
  }
  t.is((await cost.ask(cost.fixture.scenario(), { as: t.title, prompt: 'after' })).status, 200)
  const { settledNanoUsd, holds } = await cost.settled(t.title)
  t.is(
    holds.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
    settledNanoUsd,
  )
})

test.serial('store down: a running stream may use its present hold and no more', async (t) => {
  const half = Promise.withResolvers<void>()
  const text = 'some words and more '.repeat(400)
  const writes = { sizes: [3000], between: (done: number) => (done === 2 ? { until: half.promise } : undefined) }
  const scenario = cost.fixture.scenario({ anthropic: { kind: 'answer', text, writes } })
  let other: DatabaseSync | undefined
  const reply = await cost.ask(scenario, {
    ...waiting,
    as: t.title,
    stream: true,
    extra: { max_tokens: 5000 },
    onChunk() {
      if (other !== undefined) return
      other = new DatabaseSync(path.join(cost.dataDir, 'turnpike.db'), { timeout: 5000 })
      other.exec('begin exclusive')
      half.resolve()
    },
  })
  other?.exec('rollback')
  other?.close()
  t.is(reply.status, 200)
  t.is(/"stop_reason":"(\w+)/.exec(reply.text)?.[1], 'max_tokens')
})

test.serial('store down: a reply’s cost is settled when the database is back, and the rest is free', async (t) => {
  const gate = Promise.withResolvers<void>()
  const scenario = cost.fixture.scenario({ anthropic: { kind: 'answer', before: { until: gate.promise } } })
  const asking = cost.ask(scenario, { ...waiting, as: t.title })
  await cost.fixture.servers.anthropic.until(() => scenario.seen('anthropic').length === 1)
  const { heldNanoUsd } = cost.books(t.title)
  const other = new DatabaseSync(path.join(cost.dataDir, 'turnpike.db'), { timeout: 5000 })
  other.exec('begin exclusive')
  gate.resolve()
  t.is((await asking).status, 200)
  const before = cost.fixture.gateway.log().length
  await eventually(() => cost.fixture.gateway.log().slice(before).includes('spend.'), 'the settlement has failed')
  other.exec('rollback')
  other.close()
  const { settledNanoUsd, holds } = await cost.settled(t.title)
  t.is(holds.length, 1)
  t.is(holds[0]?.costNanoUsd, settledNanoUsd)
  t.true(settledNanoUsd > 0 && settledNanoUsd < heldNanoUsd, `${settledNanoUsd} of ${heldNanoUsd}`)
})

test.serial('crash: a hold outlives the process that had it, so that used money is not free', async (t) => {
  const scenario = cost.fixture.scenario({ anthropic: { kind: 'hang', at: 'after-headers' } })
  const sent = cost.ask(scenario, { as: t.title, stream: true }).catch(() => undefined)
  await cost.fixture.servers.anthropic.until(() => scenario.seen('anthropic').length === 1)
  const { heldNanoUsd } = cost.books(t.title)
  process.kill(-cost.fixture.gateway.pid, 'SIGKILL')
  await Promise.all([sent, cost.fixture.gateway.exited])
  t.true(heldNanoUsd > 0)
  t.is(cost.books(t.title).heldNanoUsd, heldNanoUsd)
})

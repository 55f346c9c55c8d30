import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { bearer, CLOUD, createKey } from '../support/accounts.ts'
import { openFixture } from '../support/fixture.ts'
import { queryGateway } from '../support/gateway-database.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'
import { sumsOfWindows, untilHeld } from '../support/spend-windows.ts'
import { rowOf } from '../support/telemetry.ts'

const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-nested-'))
const fixture = await openFixture({ env: { ...CLOUD, SVC_DATA_DIR: dataDir, SVC_PIPELINE: PIPELINE } })
test.after.always(async () => {
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** A request's worst case is above the first of these, in USD, and below the second. */
const [TOO_LITTLE, ENOUGH] = [0.000_001, 5]

/** Changes the gateway's database from beside it, as its other instances do. */
const change = (sql: string) => queryGateway(dataDir, sql)

const sumsOf = (scope: string) => sumsOfWindows(dataDir, scope)

const textOf = (limits: object | null) => (limits === null ? 'null' : `'${JSON.stringify(limits)}'`)

let made = 0
/** Requests so far: each asks something else, or a cache would answer it. */
let sent = 0

/** Creates a key of a person of its own, in a team of its own. */
async function openMember(t: ExecutionContext, script?: Script) {
  const name = `m${++made}`
  const { id, key } = await createKey(fixture.gateway, name)
  const teamId = `team_${name}`
  await change(
    `insert into team (id, name, folded_name, created_at_ms) values ('${teamId}', '${teamId}', '${teamId}', 0)`,
  )
  const scenario = fixture.scenario(script)
  return {
    name,
    teamId,
    keyId: id,
    scenario,
    /** Sets limits in the database: in force for the next request. */
    limit(table: 'account' | 'team' | 'api_key', limits: object | null) {
      const row = { account: name, team: teamId, api_key: id }[table]
      return change(`update ${table} set limits = ${textOf(limits)} where id = '${row}'`)
    },
    limitTag: (tag: string, limits: object) =>
      change(`insert into tag (name, limits, created_at_ms) values ('${tag}', ${textOf(limits)}, 0)
        on conflict (name) do update set limits = excluded.limits`),
    join: (team: string) => change(`update api_key set team_id = '${team}' where id = '${id}'`),
    async send(tags?: string, { pipe, ...extra }: { pipe?: string; stream?: boolean } = {}): Promise<Reply> {
      const headers = {
        ...bearer(key),
        ...(tags !== undefined && { 'x-svc-tag': tags }),
        ...(pipe !== undefined && { 'x-svc-pipe': pipe }),
      }
      const reply = await scenario.send({ body: ask(`hi ${++sent} of ${name}`, extra), headers })
      t.log(reply.status, valueAt(reply.json, 'error.message') ?? '')
      return reply
    },
  }
}

function refusalIn({ status, json }: Reply) {
  const { cap, tag, limit } = (valueAt(json, 'error') ?? {}) as Record<string, unknown>
  return { status, cap, tag, limit }
}

test('nested caps: each refuses by its own name, from the next request on, though no pipeline has the guard', async (t) => {
  const member = await openMember(t)
  await member.join(member.teamId)
  const tag = `tag-of-${member.name}`
  t.is((await member.send(tag, { pipe: 'none' })).status, 200)
  for (const [cap, set, unset] of [
    ['person', () => member.limit('account', { costPerDay: TOO_LITTLE }), () => member.limit('account', null)],
    ['team', () => member.limit('team', { costPerMonth: TOO_LITTLE }), () => member.limit('team', null)],
    ['key', () => member.limit('api_key', { costPerDay: TOO_LITTLE }), () => member.limit('api_key', null)],
  ] as const) {
    await set()
    t.deepEqual(refusalIn(await member.send(undefined, { pipe: 'none' })), {
      status: 429,
      cap,
      tag: undefined,
      limit: TOO_LITTLE,
    })
    await unset()
  }
  await member.limitTag(tag, { costPerDay: TOO_LITTLE })
  t.deepEqual(refusalIn(await member.send(`z,${tag}`, { pipe: 'none' })), {
    status: 429,
    cap: 'tag',
    tag,
    limit: TOO_LITTLE,
  })
  t.is((await member.send('z', { pipe: 'none' })).status, 200)
})

test('nested caps: a request is counted in the windows of its key, person, team and tags, and its row names them', async (t) => {
  const member = await openMember(t)
  await member.join(member.teamId)
  const [shop, web] = [`shop-${member.name}`, `web-${member.name}`]
  for (const table of ['account', 'team', 'api_key'] as const) await member.limit(table, { costPerDay: ENOUGH })
  await member.limitTag(shop, { costPerDay: ENOUGH })
  await member.limitTag(web, { costPerMonth: ENOUGH })
  await change(`update api_key set tags = '${JSON.stringify([shop])}' where id = '${member.keyId}'`)
  const reply = await member.send(`${web},free`)
  t.is(reply.headers['x-svc-budget-day-cap'], 'key')
  const row = await rowOf(dataDir, reply.headers['x-svc-receipt'])
  t.like(row, { key_id: member.keyId, user_id: member.name, team_id: member.teamId })
  t.is(row.tags, JSON.stringify(['free', shop, web]))
  const cost = Number(row.cost_nano_usd)
  t.true(cost > 0)
  const scopes = [
    `key:key:${member.keyId}`,
    `user:${member.name}`,
    `team:${member.teamId}`,
    `tag:${shop}`,
    `tag:${web}`,
  ]
  await untilHeld(dataDir, scopes, 'nowhere')
  for (const scope of scopes)
    t.deepEqual(await sumsOf(scope), { windows: 1, settledNanoUsd: cost, heldNanoUsd: 0 }, scope)
  t.is((await sumsOf('tag:free')).windows, 0)
})

test('nested caps: a key that changes its team in the middle of a reply is counted where it was admitted', async (t) => {
  const gate = Promise.withResolvers<void>()
  const member = await openMember(t, { kind: 'answer', writes: holdEvent(2, gate.promise) })
  const other = await openMember(t)
  for (const { limit } of [member, other]) await limit('team', { costPerDay: ENOUGH })
  await member.join(member.teamId)
  const sending = member.send(undefined, { stream: true })
  await untilHeld(dataDir, [`team:${member.teamId}`], 'everywhere')
  await member.join(other.teamId)
  gate.resolve()
  const reply = await sending
  const row = await rowOf(dataDir, reply.headers['x-svc-receipt'])
  await untilHeld(dataDir, [`team:${member.teamId}`], 'nowhere')
  t.is(row.team_id, member.teamId)
  t.is((await sumsOf(`team:${member.teamId}`)).settledNanoUsd, Number(row.cost_nano_usd))
  t.is((await sumsOf(`team:${other.teamId}`)).windows, 0)
  const next = await member.send(undefined, { stream: true })
  t.is((await rowOf(dataDir, next.headers['x-svc-receipt'])).team_id, other.teamId)
})

test('nested caps: one that is lowered below what is spent refuses, and an archived team keeps its own', async (t) => {
  const member = await openMember(t)
  await member.join(member.teamId)
  await member.limit('team', { costPerDay: ENOUGH })
  t.is((await member.send()).status, 200)
  await member.limit('team', { costPerDay: TOO_LITTLE })
  await change(`update team set archived_at_ms = 1 where id = '${member.teamId}'`)
  const refused = await member.send()
  t.like(refusalIn(refused), { status: 429, cap: 'team' })
  t.true(Number(valueAt(refused.json, 'error.spent')) > TOO_LITTLE)
  t.like(refused.headers, { 'x-svc-budget-day-remaining': '0', 'x-svc-budget-day-cap': 'team' })
  await member.limit('team', { costPerDay: ENOUGH })
  t.is((await member.send()).status, 200)
})

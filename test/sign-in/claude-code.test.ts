import { hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { bearer, CLOUD, type CreatedKey, createKey, sendAs, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'

const BOSS = 'boss'
const CONTRACTORS = {
  permissions: { deny: ['WebFetch'], allow: [] },
  availableModels: ['claude-sonnet-4-5'],
  env: { ZULU: '1', ALPHA: 'naïve' },
}
const EVERYONE = { cleanupPeriodDays: 7 }
/** Header by which the gateway recognises Claude Code. */
const SESSION = { 'x-claude-code-session-id': '0b9c0f1e-7d53-4c1e-9a57-30e1a3f5a001' }
const UNIFIED = 'anthropic-ratelimit-unified'
const SIGN_IN = { issuer: 'http://127.0.0.1:9', client_id: 'turnpike' }

const fixture = await openFixture({
  env: { ...CLOUD, SVC_PIPELINE: PIPELINE, SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}` },
  config: {
    // Never called: users of this file are signed in with tokens.
    sign_in: {
      ...SIGN_IN,
      managed_settings: [{ teams: ['contractors'], settings: CONTRACTORS }, { settings: EVERYONE }],
    },
    plugins: { watch: false, 'cost-guard': { client_limits: true } },
  },
})
const { url } = fixture.gateway
test.after.always(() => fixture.close())

/** Sends a request as the operator, which is expected to succeed. */
async function done(call: string, body: JsonObject = {}): Promise<unknown> {
  const [method = '', path = ''] = call.split(' ')
  const reply = await sendAs(BOSS, url, { method, path: `/v1/admin/${path}`, body })
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
  return reply.json
}

const read = (target: string, key: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send(url, { method: 'GET', path: target, headers: { ...bearer(key), ...headers } })
const settingsOf = (key: string, headers?: Record<string, string>) => read('/managed/settings', key, headers)
const usageOf = async (t: ExecutionContext, key: string) => {
  const reply = await read('/api/oauth/usage', key)
  t.is(reply.status, 200, reply.text)
  t.is(reply.headers['cache-control'], 'no-store')
  return reply.json
}

const usedCents = (usage: unknown) => valueAt(usage, 'extra_usage.used_credits')

/** Sends a request of Claude Code that costs some cents, and waits until its cost is settled. */
async function spend(t: ExecutionContext, { key }: CreatedKey): Promise<Reply> {
  const usage = { input_tokens: 10, output_tokens: 20_000 }
  const scenario = fixture.scenario({ kind: 'answer', usage })
  const reply = await scenario.send({ body: ask(t.title), headers: { ...SESSION, ...bearer(key) } })
  t.is(reply.status, 200, reply.text)
  return reply
}

test('managed settings: a member of a team gets those of the team, all others the general ones', async (t) => {
  const [member, other] = [await createKey(fixture.gateway, 'cora'), await createKey(fixture.gateway, 'otto')]
  const team = await done('POST teams', { name: 'Contractors' })
  t.like((await settingsOf(member.key)).json, { settings: EVERYONE })
  await done(`PUT teams/${valueAt(team, 'id')}/members/cora`, { role: 'member' })
  const { json, headers } = await settingsOf(member.key)
  // Sorted at every level, without white space: what the client computes.
  const sorted =
    '{"availableModels":["claude-sonnet-4-5"],"env":{"ALPHA":"naïve","ZULU":"1"},"permissions":{"allow":[],"deny":["WebFetch"]}}'
  const checksum = `sha256:${hash('sha256', sorted)}`
  t.deepEqual(json, { uuid: checksum, checksum, settings: CONTRACTORS })
  t.like(headers, { etag: `"${checksum}"`, 'cache-control': 'no-store' })
  t.like((await settingsOf(other.key)).json, { settings: EVERYONE })
})

test('managed settings: unchanged ones are 304, also through a proxy that weakens the tag', async (t) => {
  const { key } = await createKey(fixture.gateway, 'etta')
  const etag = String((await settingsOf(key)).headers.etag)
  for (const tag of [etag, `W/${etag}`, `"sha256:other", ${etag}`]) {
    const { status, text, headers } = await settingsOf(key, { 'if-none-match': tag })
    t.is(status, 304, tag)
    t.is(text, '')
    t.is(headers.etag, etag)
  }
  for (const tag of ['*', '"sha256:other"', 'x'])
    t.is((await settingsOf(key, { 'if-none-match': tag })).status, 200, tag)
})

test('managed settings: without any for the caller the reply is 404, which clients read as none', async (t) => {
  const settings = [{ teams: ['Nobody'], settings: EVERYONE }]
  for (const managed_settings of [[], settings]) {
    await using none = await openFixture({ env: CLOUD, config: { sign_in: { ...SIGN_IN, managed_settings } } })
    const { key } = await createKey(none.gateway, 'nora')
    const target = '/managed/settings'
    t.is((await send(none.gateway.url, { method: 'GET', path: target, headers: bearer(key) })).status, 404)
    t.is((await send(none.gateway.url, { method: 'GET', path: target, headers: bearer(`${key}x`) })).status, 401)
  }
})

for (const target of ['/managed/settings', '/api/oauth/usage'])
  test(`${target}: only a key in force reads it`, async (t) => {
    const { key, id } = await createKey(fixture.gateway, `guarded${target}`)
    t.is((await read(target, key)).status, 200)
    for (const credential of [`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`, await sessionToken(BOSS), 'x']) {
      const refused = await read(target, credential)
      t.is(refused.status, 401)
      t.is(valueAt(refused.json, 'error.type'), 'authentication_error')
      t.is(refused.headers['x-should-retry'], 'false', 'the client asks for a sign-in at once')
    }
    t.is((await send(url, { method: 'GET', path: target, headers: { authorization: undefined } })).status, 401)
    await done(`POST keys/${id}/suspend`)
    const suspended = await read(target, key)
    t.is(suspended.status, 403)
    t.is(valueAt(suspended.json, 'error.type'), 'permission_error')
    t.is(suspended.headers.etag, undefined)
  })

test('managed settings: a caller at its limit of requests gets them, since the client does not start without', async (t) => {
  const { key } = await createKey(fixture.gateway, 'rita', { limits: { requestsPerMinute: 1 } })
  const request = { body: ask(t.title), headers: bearer(key) }
  t.is((await fixture.scenario().send(request)).status, 200)
  t.is((await fixture.scenario().send(request)).status, 429)
  t.is((await settingsOf(key)).status, 200)
  t.is((await read('/api/oauth/usage', key)).status, 200)
})

test('usage: the fullest cap of the key, the person and the team is the one of the replies’ headers', async (t) => {
  const key = await createKey(fixture.gateway, 'ada', { limits: { costPerMonth: 1000 } })
  const other = await createKey(fixture.gateway, 'ada')
  const stranger = await createKey(fixture.gateway, 'eve', { limits: { costPerDay: 7 } })
  await done('PATCH people/ada', { limits: { costPerDay: 0.5, costPerMonth: 100 } })
  await spend(t, other)
  const settled = (cents: number) =>
    eventually(async () => usedCents(await usageOf(t, key.key)) === cents, `${cents} cents are settled`)
  await settled(30)
  const { headers } = await spend(t, key)
  await settled(60)
  const usage = await usageOf(t, key.key)
  t.deepEqual(valueAt(usage, 'extra_usage'), {
    is_enabled: true,
    monthly_limit: 50,
    used_credits: 60,
    utilization: 120,
    currency: 'USD',
  })
  t.like(valueAt(usage, 'limits.0'), {
    kind: 'spend',
    group: 'daily',
    percent: 120,
    severity: 'critical',
    is_active: true,
  })
  t.like(valueAt(usage, 'limits.1'), {
    kind: 'spend',
    group: 'monthly',
    percent: 0,
    severity: 'normal',
    is_active: false,
  })
  const resetSeconds = Date.parse(String(valueAt(usage, 'limits.0.resets_at'))) / 1000
  t.is(String(resetSeconds), String(headers[`${UNIFIED}-overage-reset`]), 'the client pairs them by this moment')
  t.like(await usageOf(t, stranger.key), { extra_usage: { monthly_limit: 700, used_credits: 0, utilization: 0 } })
})

test('usage: a member without caps sees the spend of all own keys, and no other’s', async (t) => {
  const [one, two] = [await createKey(fixture.gateway, 'uma'), await createKey(fixture.gateway, 'uma')]
  const stranger = await createKey(fixture.gateway, 'udo')
  await spend(t, one)
  await spend(t, two)
  const unlimited = (used_credits: number) => ({ limit: null, used_credits, utilization: null })
  const total = (cents: number) => ({
    extra_usage: {
      is_enabled: true,
      monthly_limit: null,
      used_credits: cents,
      utilization: null,
      currency: 'USD',
      daily: unlimited(cents),
      weekly: unlimited(cents),
    },
    limits: [],
  })
  await eventually(async () => usedCents(await usageOf(t, one.key)) === 60, 'it is recorded')
  t.deepEqual(await usageOf(t, one.key), total(60))
  t.deepEqual(await usageOf(t, stranger.key), total(0))
})

test('usage: without records of requests a member without caps has no figures, rather than 0', async (t) => {
  await using off = await openFixture({ env: CLOUD, config: { sign_in: SIGN_IN, telemetry: { enabled: false } } })
  const { key } = await createKey(off.gateway, 'otis')
  const reply = await send(off.gateway.url, { method: 'GET', path: '/api/oauth/usage', headers: bearer(key) })
  t.deepEqual(reply.json, { limits: [] })
})

const INVALID: readonly [claim: string, managed_settings: JsonObject[], expected: RegExp][] = [
  [
    'settings that the client reads from its machine alone',
    [{ settings: { forceLoginGatewayUrl: 'x' } }],
    /forceLoginGatewayUrl/,
  ],
  ['an entry that never applies', [{ settings: {} }, { teams: ['A'], settings: {} }], /the last/],
  ['a variable that is no text', [{ settings: { env: { A: 1 } } }], /managed_settings.*env.*A/],
]
for (const [claim, managed_settings, expected] of INVALID)
  test(`managed settings: the gateway does not start with ${claim}`, async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-managed-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const file = path.join(folder, 'turnpike.yaml')
    await writeFile(file, JSON.stringify({ sign_in: { ...SIGN_IN, managed_settings } }))
    const starting = startGateway({ ...CLOUD, SVC_CONFIG: file })
    const error = await t.throwsAsync(starting.then((gateway) => gateway.stop()))
    t.regex(String(error?.message), expected)
  })

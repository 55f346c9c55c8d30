import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { bearer, sendAs } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { fleets } from '../support/fleet.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'

// The issuer is never called: users of this file are signed in with tokens.
const SIGN_IN = { SVC_SIGN_IN_ISSUER: 'http://127.0.0.1:9', SVC_SIGN_IN_CLIENT_ID: 'turnpike' }
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const BOSS = 'boss'
const HOUR_MS = 3_600_000

type Door = Pick<Gateway, 'url'>

const form = ({ url }: Door, target: string, fields: Record<string, string>): Promise<Reply> =>
  send(url, {
    path: target,
    headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
const begin = (door: Door, fields: Record<string, string> = {}) =>
  form(door, '/oauth/device_authorization', { client_id: 'turnpike', ...fields })
const poll = async (door: Door, device: Reply) =>
  form(door, '/oauth/token', {
    grant_type: GRANT,
    client_id: 'turnpike',
    device_code: String(valueAt(device.json, 'device_code')),
  })
const codeOf = (device: Reply) => String(valueAt(device.json, 'user_code'))
const errorOf = ({ json }: Reply) => valueAt(json, 'error')
const as = async (user: string, { url }: Door, path: string, body: JsonObject) => sendAs(user, url, { path, body })
const decide = (user: string, door: Door, code: string, approve: boolean) =>
  as(user, door, '/dashboard/api/device', { code, approve })

/** Opens a session of a command line; resolves with its token. */
async function openSession(user: string, door: Door): Promise<string> {
  const device = await begin(door)
  await decide(user, door, codeOf(device), true)
  return String(valueAt((await poll(door, device)).json, 'access_token'))
}

/** A client of models that has signed in. */
interface Granted {
  readonly key: string
  readonly session: string
  readonly expiresIn: unknown
}

/** Has a client of models sign in with a user's approval. */
async function grantKey(user: string, door: Door, device_name = 'laptop'): Promise<Granted> {
  const device = await form(door, '/oauth/device_authorization', { client_id: 'agent', device_name })
  await decide(user, door, codeOf(device), true)
  const { json } = await form(door, '/oauth/token', {
    grant_type: GRANT,
    device_code: String(valueAt(device.json, 'device_code')),
  })
  const [key, session] = ['access_token', 'refresh_token'].map((name) => String(valueAt(json, name)))
  return { key: String(key), session: String(session), expiresIn: valueAt(json, 'expires_in') }
}

const refresh = (door: Door, { session }: Granted) =>
  form(door, '/oauth/token', { grant_type: 'refresh_token', refresh_token: session })
const isAccepted = async ({ url }: Door, key: unknown) =>
  (await send(url, { headers: bearer(String(key)), body: {} })).status === 400
const statusAt = async ({ url }: Door, token: string) =>
  (await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(token) })).status
const hashOf = (token: string) => hash('sha256', token, 'base64url')

/** Sends a request of the operator to the administration; returns the reply's body. */
async function admin({ url }: Door, call: string, body?: JsonObject): Promise<JsonObject> {
  const [method = '', path = ''] = call.split(' ')
  const reply = await sendAs(BOSS, url, { method, path: `/v1/admin/${path}`, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
  return reply.json as JsonObject
}

/** Returns the only key of a person. */
async function keyOf(door: Door, person: string): Promise<JsonObject> {
  const { data } = await admin(door, `GET keys?person=${person}`)
  return (data as JsonObject[])[0] ?? {}
}

const engines = fleets({ ...SIGN_IN, SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}` })

for (const { test, open } of engines) {
  test('devices: an approved request opens one session, of the user who approved', async (t) => {
    const { gateways, next } = await open()
    const [door] = gateways
    const device = await begin(door, { device_name: 'laptop \u202e<b>' })
    t.like(device.json, { verification_uri: `${door.url}/#/device`, expires_in: 600, interval: 5 })
    t.regex(codeOf(device), /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    t.is(errorOf(await poll(next(), device)), 'authorization_pending')
    t.is(errorOf(await poll(next(), device)), 'slow_down')
    const typed = codeOf(device).toLowerCase().replace('-', ' ')
    const found = await as('ada', next(), '/dashboard/api/device/find', { code: typed })
    t.like(found.json, { client: 'turnpike on laptop <b>', address: '127.0.0.1' })
    t.is(errorOf(await poll(next(), device)), 'slow_down', 'showing it approves nothing')
    t.is((await decide('ada', next(), typed, true)).status, 204)
    const granted = await poll(next(), device)
    t.is(granted.status, 200, granted.text)
    const token = String(valueAt(granted.json, 'access_token'))
    t.regex(token, /^sess_[\w-]{43}$/)
    t.is(errorOf(await poll(next(), device)), 'expired_token', 'one request, one session')
    const { json } = await send(next().url, { method: 'GET', path: '/v1/sessions', headers: bearer(token) })
    t.like(valueAt(json, 'sessions.0'), { kind: 'command', client: 'turnpike on laptop <b>', isCurrent: true })
    t.is((await form(next(), '/oauth/revoke', { token })).status, 200)
    for (const gateway of gateways) t.is(await statusAt(gateway, token), 401)
    t.is((await form(next(), '/oauth/revoke', { token })).status, 200, 'of an unknown token too')
  })

  test('devices: a denied request gets nothing, and neither decision is taken twice', async (t) => {
    const { next } = await open()
    const device = await begin(next())
    t.is((await decide('ben', next(), codeOf(device), false)).status, 204)
    t.is((await decide('ben', next(), codeOf(device), true)).status, 404)
    t.is(errorOf(await poll(next(), device)), 'access_denied')
  })

  for (const [claim, change] of [
    ['past its lifetime', 'expires_at_ms = 0'],
    ['idle for too long', 'last_seen_at_ms = last_seen_at_ms - idle_ms - 1'],
  ])
    test(`sessions: one that is ${claim} is refused`, async (t) => {
      const { next, sql } = await open()
      const token = await openSession('finn', next())
      t.is(await statusAt(next(), token), 200)
      await sql(`update user_session set ${change} where hash = '${hashOf(token)}' returning id`)
      t.is(await statusAt(next(), token), 401)
    })

  test('sessions: a suspended account has none that is accepted, and gets no new one', async (t) => {
    const { next, env } = await open()
    const token = await openSession('gus', next())
    const device = await begin(next())
    await decide('gus', next(), codeOf(device), true)
    t.is((await runCommandInThread(['account', 'suspend', 'gus'], { env })).code, 0)
    t.is(await statusAt(next(), token), 403)
    t.is(errorOf(await poll(next(), device)), 'access_denied')
  })

  test('devices: a client of models gets a key of the user, which it refreshes while the session lasts', async (t) => {
    const { next } = await open()
    const granted = await grantKey('dora', next())
    t.is(granted.expiresIn, 3600)
    t.regex(granted.key, /^svc_live_/)
    t.true(await isAccepted(next(), granted.key))
    t.false(await isAccepted(next(), granted.session), 'the session is no key')
    const second = valueAt((await refresh(next(), granted)).json, 'access_token')
    t.not(second, granted.key)
    t.true(await isAccepted(next(), second))
    t.true(await isAccepted(next(), granted.key), 'for requests that are on their way')
    const { data } = await admin(next(), 'GET keys?person=dora')
    t.is((data as unknown[]).length, 1, 'one key, with one spend and one set of limits')
    await form(next(), '/oauth/revoke', { token: granted.session })
    t.false(await isAccepted(next(), second), 'the key ends with its session')
    const late = await refresh(next(), granted)
    t.is(late.status, 401)
    t.is(errorOf(late), 'invalid_grant')
  })

  test('sessions: the end of a session records which key ended, who ended it and why', async (t) => {
    const { next } = await open()
    for (const [user, actor, action] of [
      ['olga', 'user:olga', 'session.ended'],
      ['otto', `user:${BOSS}`, 'session.ended-all'],
    ] as const) {
      const { session } = await grantKey(user, next())
      const { id } = await keyOf(next(), user)
      if (user === 'olga') await form(next(), '/oauth/revoke', { token: session })
      else await admin(next(), `DELETE people/${user}/sessions`)
      const { data } = await admin(next(), `GET audit?person=${user}`)
      const entry = (data as JsonObject[]).find(({ action }) => action === 'key.ended')
      t.like(entry, { actor, accountId: user, subject: id, details: { name: 'agent on laptop', reason: action } })
      t.regex(String(valueAt(entry, 'details.session')), /^ses_/)
    }
  })

  test('sessions: a key never outlasts its session', async (t) => {
    const { next, sql } = await open()
    const granted = await grantKey('pia', next())
    const end = Date.now() + 600_000
    await sql(`update user_session set expires_at_ms = ${end} where hash = '${hashOf(granted.session)}' returning id`)
    const { json } = await refresh(next(), granted)
    const seconds = Number(valueAt(json, 'expires_in'))
    t.true(seconds > 500 && seconds <= 600, String(seconds))
    t.is(Date.parse(String((await keyOf(next(), 'pia')).expiresAt)), end)
    for (const expiresAt of ['2999-01-01T00:00:00.000Z', null]) {
      await admin(next(), `PATCH keys/${(await keyOf(next(), 'pia')).id}`, { expiresAt })
      t.is(Date.parse(String((await keyOf(next(), 'pia')).expiresAt)), end, 'nor by an operator’s hand')
    }
  })

  test('sessions: a refresh stays within the expiry that an operator has set, until it is lifted', async (t) => {
    const { next } = await open()
    const granted = await grantKey('quin', next())
    const { id } = await keyOf(next(), 'quin')
    const set = (expiresAt: string | null) => admin(next(), `PATCH keys/${id}`, { expiresAt })
    const expiresAt = new Date(Date.now() + 600_000).toISOString()
    await set(expiresAt)
    const { json } = await refresh(next(), granted)
    t.true(Number(valueAt(json, 'expires_in')) <= 600)
    t.is((await keyOf(next(), 'quin')).expiresAt, expiresAt)
    await set('2020-01-01T00:00:00.000Z')
    const late = await refresh(next(), granted)
    t.is(late.status, 401, late.text)
    t.false(await isAccepted(next(), valueAt(json, 'access_token')))
    await set(null)
    const again = valueAt((await refresh(next(), granted)).json, 'access_token')
    t.true(await isAccepted(next(), again))
    const end = Date.parse(String((await keyOf(next(), 'quin')).expiresAt))
    t.true(end > Date.now() + HOUR_MS / 2)
  })
}

const [sqlite] = engines
if (sqlite !== undefined) {
  sqlite.test('devices: codes are guessed at few times a minute, by signed-in users alone', async (t) => {
    const [door] = (await sqlite.open()).gateways
    const guess = { path: '/dashboard/api/device/find', body: { code: 'BCDF-GHJK' } }
    t.is((await send(door.url, { ...guess, headers: { authorization: undefined } })).status, 401)
    const replies = await Promise.all(Array.from({ length: 30 }, () => as('mallory', door, guess.path, guess.body)))
    t.is(replies.filter(({ status }) => status === 404).length, 10)
    t.is(replies.filter(({ status }) => status === 429).length, 20)
  })

  sqlite.test('devices: malformed requests are refused in the form of OAuth', async (t) => {
    const [door] = (await sqlite.open()).gateways
    const { url } = door
    t.is(errorOf(await form(door, '/oauth/token', { grant_type: 'password' })), 'unsupported_grant_type')
    t.is(errorOf(await form(door, '/oauth/token', { grant_type: GRANT, device_code: 'x' })), 'expired_token')
    t.is(errorOf(await send(url, { path: '/oauth/token', body: { grant_type: GRANT } })), 'unsupported_grant_type')
    const { json } = await send(url, { method: 'GET', path: '/.well-known/oauth-authorization-server' })
    t.like(json, { issuer: url, token_endpoint: `${url}/oauth/token` })
  })

  sqlite.test('sessions: an end applies to the next request on every process', async (t) => {
    const { gateways, env } = await sqlite.open()
    await using other = await startGateway({ SVC_MODE: 'cloud', ...env, ...SIGN_IN })
    const token = await openSession('emil', gateways[0])
    t.is(await statusAt(other, token), 200)
    await form(gateways[0], '/oauth/revoke', { token })
    t.is(await statusAt(other, token), 401)
  })

  sqlite.test(
    'cli: login saves a session that commands use, prints a key for clients, and logout ends it',
    async (t) => {
      const [door] = (await sqlite.open()).gateways
      const { url } = door
      const config = mkdtempSync(path.join(tmpdir(), 'turnpike-login-'))
      t.teardown(() => rmSync(config, { recursive: true }))
      const file = path.join(config, 'turnpike', 'sessions.json')
      const run = (...words: string[]) => runCommandInThread(words, { env: { XDG_CONFIG_HOME: config } })
      await using proxy = await startProxy(door, (code) => void decide('cleo', door, code, true))
      t.regex((await run('login', proxy.url, '--print-key')).stderr, /Not signed in/)
      const { code, stdout, stderr } = await run('login', proxy.url)
      t.is(code, 0, stderr)
      t.true(stdout.includes(`Open ${url}/#/device\nand type the code `), stdout)
      t.is(statSync(file).mode & 0o777, 0o600)
      t.is(statSync(path.dirname(file)).mode & 0o777, 0o700)
      const listed = await run('conversation', 'list', '--url', proxy.url, '--json')
      t.is(listed.code, 0, listed.stderr)
      const key = (await run('login', proxy.url, '--print-key')).stdout.trim()
      t.regex(key, /^svc_live_[0-9A-Za-z]{38}$/)
      t.is((await run('login', proxy.url, '--print-key')).stdout.trim(), key, 'the same key while it is fresh')
      t.is((await send(url, { headers: bearer(key), body: {} })).status, 400, 'the gateway accepts it')
      const { token } = JSON.parse(readFileSync(file, 'utf8')).gateways[proxy.url]
      t.is((await run('logout', proxy.url)).code, 0)
      t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(token) })).status, 401)
      t.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { gateways: {} })
    },
  )
}

const INCOMPLETE: readonly [claim: string, env: Record<string, string>, expected: RegExp][] = [
  ['no client', { SVC_SIGN_IN_CLIENT_ID: '' }, /SVC_SIGN_IN_CLIENT_ID/],
  ['an issuer over plain http', { SVC_SIGN_IN_ISSUER: 'http://id.example.com' }, /sign_in\.issuer.*https/],
  ['no address for browsers', { HOST: '0.0.0.0' }, /SVC_PUBLIC_URL/],
  ['a public address over plain http', { SVC_PUBLIC_URL: 'http://gateway.example.com' }, /https/],
  ['no dashboard', { SVC_DASHBOARD: 'off' }, /SVC_DASHBOARD/],
  [
    'tokens of another issuer',
    { SVC_SESSION_JWKS_URL: 'https://a.example/jwks', SVC_SESSION_ISSUER: 'https://a.example' },
    /same account/,
  ],
  ['tokens of any issuer', { SVC_SESSION_JWKS_URL: 'https://a.example/jwks' }, /same account/],
  [
    'tokens of another issuer that shares a secret',
    { SVC_SESSION_SECRET: 'x'.repeat(40), SVC_SESSION_ISSUER: 'https://a.example' },
    /same account/,
  ],
]
for (const [claim, env, expected] of INCOMPLETE)
  test(`sign-in: with ${claim} the gateway does not start`, async (t) => {
    const starting = startGateway({ SVC_MODE: 'cloud', ...SIGN_IN, ...env })
    const error = await t.throwsAsync(starting.then((gateway) => gateway.stop()))
    t.regex(String(error?.message), expected)
  })

/** A proxy before the gateway, which shows the code that is on the command's terminal alone. */
async function startProxy({ url }: Door, onCode: (code: string) => void) {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url: target, headers } = request
    const { authorization, 'content-type': type } = headers
    const body = await text(request)
    const reply = await send(url, {
      method,
      path: target ?? '/',
      headers: { authorization, 'content-type': type },
      ...(body !== '' && { body }),
    })
    const code = valueAt(reply.json, 'user_code')
    if (typeof code === 'string') onCode(code)
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // safe: it listens on a port
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

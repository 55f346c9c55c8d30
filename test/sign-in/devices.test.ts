import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { bearer, SESSION_SECRET, sessionToken } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { openFixture } from '../support/fixture.ts'
import { startGateway } from '../support/gateway.ts'
import { type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'

const SIGN_IN = { SVC_SIGN_IN_ISSUER: 'http://127.0.0.1:9', SVC_SIGN_IN_CLIENT_ID: 'turnpike' }
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const [config, data] = ['login', 'data'].map((name) => mkdtempSync(path.join(tmpdir(), `turnpike-${name}-`))) as [
  string,
  string,
]
const fixture = await openFixture({
  env: { SVC_MODE: 'cloud', SVC_SESSION_SECRET: SESSION_SECRET, SVC_DATA_DIR: data },
  // Never called: users of this file are signed in with tokens.
  config: { sign_in: { issuer: 'http://127.0.0.1:9', client_id: 'turnpike' } },
})
const { url } = fixture.gateway
test.after.always('close the gateway', async () => {
  await fixture.close()
  for (const folder of [config, data]) rmSync(folder, { recursive: true })
})

const form = (target: string, fields: Record<string, string>): Promise<Reply> =>
  send(url, {
    path: target,
    headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
const begin = (fields: Record<string, string> = {}) =>
  form('/oauth/device_authorization', { client_id: 'turnpike', ...fields })
const poll = async (device: Reply) =>
  form('/oauth/token', {
    grant_type: GRANT,
    client_id: 'turnpike',
    device_code: String(valueAt(device.json, 'device_code')),
  })
const codeOf = (device: Reply) => String(valueAt(device.json, 'user_code'))
const errorOf = ({ json }: Reply) => valueAt(json, 'error')
const as = async (user: string, target: string, body: JsonObject) =>
  send(url, { path: target, headers: bearer(await sessionToken(user)), body })
const decide = (user: string, code: string, approve: boolean) => as(user, '/dashboard/api/device', { code, approve })

test('devices: an approved request opens one session, of the user who approved', async (t) => {
  const device = await begin({ device_name: 'laptop \u202e<b>' })
  t.like(device.json, { verification_uri: `${url}/#/device`, expires_in: 600, interval: 5 })
  t.regex(codeOf(device), /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  t.is(errorOf(await poll(device)), 'authorization_pending')
  t.is(errorOf(await poll(device)), 'slow_down')
  const typed = codeOf(device).toLowerCase().replace('-', ' ')
  const found = await as('ada', '/dashboard/api/device/find', { code: typed })
  t.like(found.json, { client: 'turnpike on laptop <b>', address: '127.0.0.1' })
  t.is(errorOf(await poll(device)), 'slow_down', 'showing it approves nothing')
  t.is((await decide('ada', typed, true)).status, 204)
  const granted = await poll(device)
  t.is(granted.status, 200, granted.text)
  const token = String(valueAt(granted.json, 'access_token'))
  t.regex(token, /^sess_[\w-]{43}$/)
  t.is(errorOf(await poll(device)), 'expired_token', 'one request, one session')
  const { json } = await send(url, { method: 'GET', path: '/v1/sessions', headers: bearer(token) })
  t.like(valueAt(json, 'sessions.0'), { kind: 'command', client: 'turnpike on laptop <b>', isCurrent: true })
  t.is((await form('/oauth/revoke', { token })).status, 200)
  t.is((await send(url, { method: 'GET', path: '/v1/sessions', headers: bearer(token) })).status, 401)
  t.is((await form('/oauth/revoke', { token })).status, 200, 'of an unknown token too')
})

test('devices: a denied request gets nothing, and neither decision is taken twice', async (t) => {
  const device = await begin()
  t.is((await decide('ben', codeOf(device), false)).status, 204)
  t.is((await decide('ben', codeOf(device), true)).status, 404)
  t.is(errorOf(await poll(device)), 'access_denied')
})

test('devices: codes are guessed at few times a minute, by signed-in users alone', async (t) => {
  const guess = { path: '/dashboard/api/device/find', body: { code: 'BCDF-GHJK' } }
  t.is((await send(url, { ...guess, headers: { authorization: undefined } })).status, 401)
  const replies = await Promise.all(Array.from({ length: 30 }, () => as('mallory', guess.path, guess.body)))
  t.is(replies.filter(({ status }) => status === 404).length, 10)
  t.is(replies.filter(({ status }) => status === 429).length, 20)
})

test('devices: malformed requests are refused in the form of OAuth', async (t) => {
  t.is(errorOf(await form('/oauth/token', { grant_type: 'password' })), 'unsupported_grant_type')
  t.is(errorOf(await form('/oauth/token', { grant_type: GRANT, device_code: 'x' })), 'expired_token')
  t.is(errorOf(await send(url, { path: '/oauth/token', body: { grant_type: GRANT } })), 'unsupported_grant_type')
  const { json } = await send(url, { method: 'GET', path: '/.well-known/oauth-authorization-server' })
  t.like(json, { issuer: url, token_endpoint: `${url}/oauth/token` })
})

/** Opens a session of a command line; resolves with its token. */
async function openSession(user: string): Promise<string> {
  const device = await begin()
  await decide(user, codeOf(device), true)
  return String(valueAt((await poll(device)).json, 'access_token'))
}

const statusAt = async (gateway: string, token: string) =>
  (await send(gateway, { method: 'GET', path: '/v1/keys', headers: bearer(token) })).status

test('sessions: an end applies to the next request on every process', async (t) => {
  await using other = await startGateway({ SVC_MODE: 'cloud', SVC_DATA_DIR: data, ...SIGN_IN })
  const token = await openSession('emil')
  t.is(await statusAt(other.url, token), 200)
  await form('/oauth/revoke', { token })
  t.is(await statusAt(other.url, token), 401)
})

for (const [claim, change] of [
  ['past its lifetime', 'expires_at_ms = 0'],
  ['idle for too long', 'last_seen_at_ms = last_seen_at_ms - idle_ms - 1'],
])
  test(`sessions: one that is ${claim} is refused`, async (t) => {
    const token = await openSession('finn')
    t.is(await statusAt(url, token), 200)
    using database = new DatabaseSync(path.join(data, 'turnpike.db'), { timeout: 5000 })
    database.prepare(`update user_session set ${change} where hash = ?`).run(hash('sha256', token, 'base64url'))
    t.is(await statusAt(url, token), 401)
  })

test('sessions: a suspended account has none that is accepted, and gets no new one', async (t) => {
  const token = await openSession('gus')
  const device = await begin()
  await decide('gus', codeOf(device), true)
  const env = { SVC_DATA_DIR: data }
  t.is((await runCommandInThread(['account', 'suspend', 'gus'], { env })).code, 0)
  t.is(await statusAt(url, token), 403)
  t.is(errorOf(await poll(device)), 'access_denied')
})

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
]
for (const [claim, env, expected] of INCOMPLETE)
  test(`sign-in: with ${claim} the gateway does not start`, async (t) => {
    const starting = startGateway({ SVC_MODE: 'cloud', ...SIGN_IN, ...env })
    const error = await t.throwsAsync(starting.then((gateway) => gateway.stop()))
    t.regex(String(error?.message), expected)
  })

/** A proxy before the gateway, which shows the code that is on the command's terminal alone. */
async function startProxy(onCode: (code: string) => void) {
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

test('devices: a client of models gets a key of the user, which it refreshes while the session lasts', async (t) => {
  const device = await form('/oauth/device_authorization', {})
  await decide('dora', codeOf(device), true)
  const device_code = String(valueAt(device.json, 'device_code'))
  const granted = await form('/oauth/token', { grant_type: GRANT, device_code })
  t.like(granted.json, { token_type: 'Bearer', expires_in: 3600 })
  const [first, session] = ['access_token', 'refresh_token'].map((name) => String(valueAt(granted.json, name)))
  const isAccepted = async (key: unknown) =>
    (await send(url, { headers: bearer(String(key)), body: {} })).status === 400
  t.regex(String(first), /^svc_live_/)
  t.true(await isAccepted(first))
  t.false(await isAccepted(session), 'the session is no key')
  const refresh = () => form('/oauth/token', { grant_type: 'refresh_token', refresh_token: String(session) })
  const second = valueAt((await refresh()).json, 'access_token')
  t.not(second, first)
  t.true(await isAccepted(second))
  t.true(await isAccepted(first), 'for requests that are on their way')
  const { json } = await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(await sessionToken('dora')) })
  t.is((valueAt(json, 'keys') as unknown[]).length, 1, 'one key, with one spend and one set of limits')
  await form('/oauth/revoke', { token: String(session) })
  t.false(await isAccepted(second), 'the key ends with its session')
  const late = await refresh()
  t.is(late.status, 401)
  t.is(errorOf(late), 'invalid_grant')
})

test('cli: login saves a session that commands use, prints a key for clients, and logout ends it', async (t) => {
  const file = path.join(config, 'turnpike', 'sessions.json')
  const run = (...words: string[]) => runCommandInThread(words, { env: { XDG_CONFIG_HOME: config } })
  await using proxy = await startProxy((code) => void decide('cleo', code, true))
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
})

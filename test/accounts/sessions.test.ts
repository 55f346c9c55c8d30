import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { bearer, CLOUD, createKey, SESSION_SECRET, sessionToken, startCloudGateway } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { startIssuer } from '../support/issuer.ts'
import { valueAt } from '../support/json.ts'

const LIST = { method: 'GET', path: '/v1/keys' }

test('sessions: an identity provider’s token is accepted, an API key is not', async (t) => {
  const issuer = await startIssuer('ES256')
  t.teardown(() => issuer.close())
  await using gateway = await startGateway({
    SVC_MODE: 'cloud',
    SVC_SESSION_JWKS_URL: issuer.jwksUrl,
    SVC_SESSION_AUDIENCE: 'gateway',
    SVC_SESSION_AZP: 'a, b',
  })
  const claims = { sub: 'user_1', aud: 'gateway', azp: 'b' }
  const token = await issuer.sign(claims)
  const created = await send(gateway.url, { path: '/v1/keys', headers: bearer(token) })
  t.is(created.status, 201)
  const refused = [
    await issuer.sign({ ...claims, aud: 'other' }),
    await issuer.sign({ ...claims, azp: 'c' }),
    await issuer.sign({ ...claims, exp: null }),
    await issuer.sign({ ...claims, nbf: Math.floor(Date.now() / 1000) + 60 }),
    token.slice(0, -3),
    String(valueAt(created.json, 'key')),
    'svc_live_nonsense',
    'x',
  ]
  for (const credential of refused) {
    const reply = await send(gateway.url, { ...LIST, headers: bearer(credential) })
    t.is(reply.status, 401, credential)
    t.is(valueAt(reply.json, 'error.type'), 'authentication_error')
    t.is(reply.headers['x-should-retry'], 'false')
  }
  t.is((await send(gateway.url, { ...LIST, headers: { 'x-api-key': token } })).status, 401)
  t.is((await send(gateway.url, { ...LIST, headers: bearer(token) })).status, 200)
})

test('sessions: an issuer whose keys cannot be had is the gateway’s trouble: 503, and no failure of the caller’s', async (t) => {
  const issuer = await startIssuer('EdDSA')
  t.teardown(() => issuer.close())
  issuer.answerWith(500)
  await using gateway = await startGateway({ SVC_MODE: 'cloud', SVC_SESSION_JWKS_URL: issuer.jwksUrl })
  const headers = bearer(await issuer.sign({ sub: 'a' }))
  for (let i = 0; i < 40; i++) {
    const reply = await send(gateway.url, { ...LIST, headers })
    t.is(reply.status, 503)
    t.is(reply.headers['retry-after'], '1')
  }
  issuer.answerWith(200)
  t.is((await send(gateway.url, { ...LIST, headers })).status, 200)
})

test('sessions: an address that sends too many bad credentials is slowed down', async (t) => {
  await using gateway = await startCloudGateway()
  const bad = () => send(gateway.url, { ...LIST, headers: bearer('nonsense') })
  const replies = await Promise.all(Array.from({ length: 90 }, bad))
  const refused = replies.filter(({ status }) => status === 401).length
  // Thirty at once, and one more every two seconds.
  t.true(refused >= 30 && refused < 60, String(refused))
  t.is(replies.filter(({ status }) => status === 429).length, 90 - refused)
  const good = await send(gateway.url, { ...LIST, headers: bearer(await sessionToken('a')) })
  t.is(good.status, 200)
})

for (const [claim, env, expected] of [
  ['a verifier that is missing', {}, /cloud.*SVC_SESSION_JWKS_URL.*SVC_SESSION_SECRET/],
  [
    'two verifiers',
    { SVC_SESSION_SECRET: SESSION_SECRET, SVC_SESSION_JWKS_URL: 'https://a.example/jwks.json' },
    /SVC_SESSION_JWKS_URL or SVC_SESSION_SECRET, got both/,
  ],
  [
    'a secret that is too short',
    { SVC_SESSION_SECRET: 'CANARY-of-31-bytes-0123456789AB' },
    /secret.*at least 32 bytes/,
  ],
  ['an address that is none', { SVC_SESSION_JWKS_URL: 'not an address' }, /jwks_url.*http/],
  ['a label that no key could have', { SVC_SESSION_SECRET: SESSION_SECRET, SVC_KEY_LABEL: 'My Keys' }, /keys\.label/],
] as [string, Record<string, string>, RegExp][]) {
  test(`cloud: ${claim} is explained at the start`, async (t) => {
    const starting = startGateway({ SVC_MODE: 'cloud', ...env })
    const error = await t.throwsAsync(starting.then((gateway) => gateway.stop()))
    t.regex(String(error?.message), expected)
    t.notRegex(String(error?.message), /CANARY|\n\s+at /)
  })
}

test('cloud: keys have the operator’s label, and a pepper makes other hashes', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-label-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const ask = { body: '{}', headers: {} }
  const first = await startCloudGateway({ SVC_DATA_DIR: folder, SVC_KEY_LABEL: 'acme' })
  const { key, prefix } = await createKey(first, 'a')
  t.regex(key, /^acme_live_[0-9A-Za-z]{38}$/)
  t.is(prefix, key.slice(0, 12))
  t.is((await send(first.url, { ...ask, headers: bearer(key) })).status, 400)
  await first.stop()
  const second = await startCloudGateway({ SVC_DATA_DIR: folder })
  t.is((await send(second.url, { ...ask, headers: bearer(key) })).status, 400, 'an earlier label goes on working')
  await second.stop()
  const third = await startCloudGateway({ SVC_DATA_DIR: folder, SVC_KEY_PEPPER: 'sixteen characters' })
  t.is((await send(third.url, { ...ask, headers: bearer(key) })).status, 401)
  const peppered = await createKey(third, 'a')
  t.is((await send(third.url, { ...ask, headers: bearer(peppered.key) })).status, 400)
  await third.stop()
})

test('cli: session-token signs what the gateway takes, for so long', async (t) => {
  const env = { ...CLOUD, SVC_SESSION_ISSUER: 'me', SVC_SESSION_AUDIENCE: 'you', SVC_SESSION_AZP: 'app' }
  const { code, stdout } = await runCommandInThread(['session-token', '--user', 'ada', '--ttl', '10m'], { env })
  t.is(code, 0)
  const [, payload = ''] = stdout.split('.')
  const { iat, exp, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  t.is(exp - iat, 600)
  t.deepEqual(claims, { sub: 'ada', iss: 'me', aud: 'you', azp: 'app' })
  await using gateway = await startCloudGateway(env)
  t.is((await send(gateway.url, { ...LIST, headers: bearer(stdout.trim()) })).status, 200)
})

test('cli: session-token names the missing or invalid setting', async (t) => {
  const without = await runCommandInThread(['session-token', '--user', 'ada'])
  t.is(without.code, 78)
  t.regex(without.stderr, /SVC_SESSION_SECRET/)
  const long = await runCommandInThread(['session-token', '--user', 'ada', '--ttl', '1y'], { env: CLOUD })
  t.is(long.code, 2)
  t.regex(long.stderr, /--ttl: expected a duration between 1s and 30d/)
})

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { bearer, CLOUD, createKey, sendAs, sessionToken } from '../support/accounts.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'

/*
 * Vulnerabilities of other gateways, tried on this one. Each test bears the name of the fault.
 */

const ROOT = path.resolve(import.meta.dirname, '../..')
const fixture = await openFixture({
  provider: { acceptAnything: true },
  config: { limits: { failures_per_minute: 0 } },
  env: { ...CLOUD, SVC_PIPELINE: 'exact-cache,semantic-cache' },
})
const { url } = fixture.gateway
const alice = await createKey(fixture.gateway, 'alice')
const bob = await createKey(fixture.gateway, 'bob')
test.after.always(() => fixture.close())

test('CVE-2026-42208: a credential is never part of a statement, whatever is in it', async (t) => {
  const scenario = fixture.scenario()
  const injections = [
    "' OR '1'='1",
    "'; DROP TABLE api_key; --",
    '" OR ""="',
    "x' UNION SELECT key_hash FROM api_key --",
    '%27%20OR%201=1',
    '\\',
    '$(id)',
    "'||pg_sleep(9)||'",
  ]
  for (const text of injections)
    for (const credential of [text, alice.key + text, alice.key.slice(0, -1) + text]) {
      const value = credential.replaceAll(' ', '')
      t.is((await scenario.send({ body: ask('hi'), headers: bearer(value) })).status, 401, value)
      t.is((await scenario.send({ body: ask('hi'), headers: { 'x-api-key': credential } })).status, 401, credential)
      t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(value) })).status, 401)
    }
  for (const text of injections) {
    const query = encodeURIComponent(text)
    for (const at of [
      `/v1/receipts?after=${query}`,
      `/v1/receipts/${query}`,
      `/v1/keys/${query}`,
      `/v1/models/${query}`,
    ])
      t.true(
        [400, 401, 404, 405, 502].includes(
          (await scenario.send({ method: 'GET', path: at, headers: bearer(alice.key) })).status,
        ),
        at,
      )
  }
  t.deepEqual(
    scenario
      .seen()
      .map(({ url }) => url)
      .filter((asked) => !asked.startsWith('/v1/models')),
    [],
  )
  t.is((await fixture.scenario().send({ body: ask('hi'), headers: bearer(alice.key) })).status, 200)
})

test('CVE-2026-42271: nothing that a request holds is run: no route starts a process or evaluates text', (t) => {
  const folders = [
    'src/http',
    'src/providers',
    'src/pipeline',
    'src/dialects',
    'src/core',
    'src/commerce',
    'src/accounts',
    'src/journal',
    'plugins',
  ]
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map(({ parentPath, name }) => path.join(parentPath, name)),
  )
  t.true(files.length > 300, `${files.length} files`)
  const running = files.filter((file) =>
    /node:(child_process|vm|repl)|\beval\(|new Function\(/.test(readFileSync(file, 'utf8')),
  )
  // One checks the syntax of an operator's plugin that cannot be loaded, the other runs V8's own collection.
  const expected = ['src/pipeline/fault-place.ts', 'src/core/system/rest.ts']
  t.deepEqual(
    running.map((file) => path.relative(ROOT, file)),
    expected,
  )
})

test('CVE-2026-49468: no header sets a caller’s identity or address', async (t) => {
  const claims = [
    'host',
    'x-forwarded-host',
    'x-forwarded-for',
    'forwarded',
    'x-forwarded-user',
    'x-real-ip',
    'x-user-id',
    'remote-user',
    'x-svc-user',
    'x-svc-scope',
  ]
  for (const name of claims)
    for (const value of ['localhost', '127.0.0.1', 'alice', `key:${alice.id}`]) {
      const headers = { [name]: value }
      for (const at of ['/v1/keys', '/dashboard/api/requests', '/dashboard/api/settings', '/v1/billing/balance'])
        t.is((await send(url, { method: 'GET', path: at, headers })).status, 401, `${name}: ${value} ${at}`)
      t.is((await send(url, { method: 'GET', path: '/metrics', headers })).status, 503)
    }
})

test('CVE-2026-35030: credentials that begin alike are distinguished', async (t) => {
  const token = await sessionToken('alice')
  t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(token) })).status, 200)
  const [head = '', claims = '', signature = ''] = token.split('.')
  const other = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'bob' }),
  ).toString('base64url')
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  for (const forged of [
    `${head}.${other}.${signature}`,
    `${head}.${claims}.${signature.slice(0, 20)}`,
    `${unsigned}.${claims}.`,
    `${token}x`,
  ])
    t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(forged) })).status, 401)
  const { key } = alice
  for (let length = 12; length < key.length; length += 5)
    t.is(
      (await send(url, { body: ask('hi'), headers: bearer(key.slice(0, length) + bob.key.slice(length)) })).status,
      401,
    )
})

test('GHSA-69x8-hrgq-fjj8: of a key only a digest of all of it is kept, and no part that would let it be guessed', async (t) => {
  const { json, text } = await sendAs('alice', url, { method: 'GET', path: '/v1/keys' })
  t.truthy(json)
  t.false(text.includes(alice.key.slice(12)))
  t.regex(readFileSync(path.join(ROOT, 'src/accounts/keys/key-hash.ts'), 'utf8'), /sha256/)
})

test('CVE-2024-6587, CVE-2025-66405: a caller cannot choose where its provider’s key is sent', async (t) => {
  const scenario = fixture.scenario()
  for (const name of ['x-base-url', 'x-portkey-custom-host', 'api-base', 'x-provider-url', 'anthropic-base-url'])
    t.is(
      (
        await scenario.send({
          body: ask('hi', { api_base: 'http://127.0.0.1:1', base_url: 'http://127.0.0.1:1' }),
          headers: {
            ...bearer(alice.key),
            'x-provider-key': 'sk-ant-own',
            [name]: 'http://127.0.0.1:1',
            'x-svc-pipe': 'none',
          },
        })
      ).status,
      200,
    )
  t.is(scenario.seen().length, 5)
  t.true(
    scenario
      .seen()
      .every(({ headers }) => headers['x-api-key'] === 'sk-ant-own' && headers['x-provider-key'] === undefined),
  )
})

test('arXiv 2601.23088: an entry of a semantic cache planted by one caller is given to no other', async (t) => {
  const planted = fixture.scenario({ kind: 'answer', text: 'planted' })
  const question = 'What is the account number to which the invoice of the supplier has to be paid?'
  const ask2 = (text: string) => ask(text, { temperature: 0 })
  t.regex((await planted.send({ body: ask2(question), headers: bearer(bob.key) })).text, /planted/)
  t.regex((await planted.send({ body: ask2(question), headers: bearer(bob.key) })).text, /planted/)
  t.is(planted.seen().length, 1)
  const honest = fixture.scenario({ kind: 'answer', text: 'honest' })
  for (const text of [question, `${question} `, question.replace('has to', 'must')]) {
    const reply = await honest.send({ body: ask2(text), headers: bearer(alice.key) })
    t.regex(reply.text, /honest/)
    t.notRegex(reply.text, /planted/)
  }
})

test('arXiv 2604.08407: a receipt lets a client compare the bytes it has read with those sent', async (t) => {
  const { hash } = await import('node:crypto')
  const reply = await fixture.scenario().send({ body: ask('a question of its own'), headers: bearer(alice.key) })
  const id = String(reply.headers['x-svc-receipt'])
  const receipt = await send(url, { method: 'GET', path: `/v1/receipts/${id}`, headers: bearer(alice.key) })
  const { reply_sha256: digest } = receipt.json as { reply_sha256: string }
  t.is(digest, hash('sha256', reply.body))
})

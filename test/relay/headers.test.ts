import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { connectRaw } from '../support/raw-client.ts'

const fixture = await openFixture({
  provider: { acceptAnything: true },
  config: { providers: { allow_routes: ['/v1/files'] } },
})
test.after.always(() => fixture.close())

const body = ask('hi')

test('headers: every anthropic-* header reaches the provider as it is', async (t) => {
  const scenario = fixture.scenario()
  const headers = {
    'anthropic-version': '2099-12-31',
    'anthropic-beta': 'context-management-2025-06-27, future-beta-2099-01-01,x',
    'anthropic-dangerous-direct-browser-access': 'true',
    'anthropic-future-thing': 'any; value=1',
  }
  await scenario.send({ body, headers })
  t.like(scenario.seen()[0]?.headers, headers)
})

for (const [name, [sent, twin]] of Object.entries({
  "the provider's": ['anthropic-', 'provider-'],
  "the specification's": ['provider-', 'anthropic-'],
})) {
  test(`headers: version and beta under ${name} name reach the provider under both`, async (t) => {
    const scenario = fixture.scenario()
    await scenario.send({ body, headers: { [`${sent}version`]: '2023-06-01', [`${sent}beta`]: 'a-1,b-2' } })
    t.like(scenario.seen()[0]?.headers, {
      [`${sent}version`]: '2023-06-01',
      [`${twin}version`]: '2023-06-01',
      [`${sent}beta`]: 'a-1,b-2',
      [`${twin}beta`]: 'a-1,b-2',
    })
  })
}

test("headers: an explicit provider-version wins over the SDK's", async (t) => {
  const scenario = fixture.scenario()
  await scenario.send({ body, headers: { 'anthropic-version': '2023-06-01', 'provider-version': '2030-01-01' } })
  t.like(scenario.seen()[0]?.headers, { 'anthropic-version': '2030-01-01', 'provider-version': '2030-01-01' })
})

test('headers: betas of both headers are joined, each once', async (t) => {
  const scenario = fixture.scenario()
  await scenario.send({ body, headers: { 'anthropic-beta': 'a-1, b-2', 'provider-beta': 'b-2,c-3' } })
  t.like(scenario.seen()[0]?.headers, { 'anthropic-beta': 'a-1,b-2,c-3', 'provider-beta': 'a-1,b-2,c-3' })
})

const OF_ACCOUNT = {
  'anthropic-organization-id': 'org_1',
  'anthropic-workspace-id': 'ws_1',
  'idempotency-key': 'order-1',
}

test("headers: what chooses among accounts does not go out with the operator's key", async (t) => {
  const scenario = fixture.scenario()
  t.is((await scenario.send({ body, headers: OF_ACCOUNT })).status, 200)
  const { headers = {} } = scenario.seen()[0] ?? {}
  for (const name of Object.keys(OF_ACCOUNT)) t.is(headers[name], undefined, name)
})

test("headers: what chooses among accounts goes out with the caller's own key", async (t) => {
  await using own = await openFixture({ env: { ANTHROPIC_API_KEY: '' }, provider: { acceptAnything: true } })
  const scenario = own.scenario()
  await scenario.send({ body, headers: { ...OF_ACCOUNT, 'x-api-key': 'sk-ant-own' } })
  t.like(scenario.seen()[0]?.headers, { ...OF_ACCOUNT, 'x-api-key': 'sk-ant-own' })
})

test('headers: a name that the operator forwards goes out', async (t) => {
  const config = { providers: { forward_headers: ['anthropic-workspace-id'] } }
  await using named = await openFixture({ config, provider: { acceptAnything: true } })
  const scenario = named.scenario()
  await scenario.send({ body, headers: OF_ACCOUNT })
  t.is(scenario.seen()[0]?.headers['anthropic-workspace-id'], 'ws_1')
  t.is(scenario.seen()[0]?.headers['anthropic-organization-id'], undefined)
})

test('headers: no version is made up where the client sent none', async (t) => {
  const scenario = fixture.scenario()
  await scenario.send({ body })
  const names = Object.keys(scenario.seen()[0]?.headers ?? {})
  t.deepEqual(
    names.filter((name) => /version|beta/.test(name)),
    [],
  )
})

test('headers: several beta headers reach the provider as one list', async (t) => {
  const scenario = fixture.scenario()
  await scenario.send({ body, headers: { 'anthropic-beta': ['a-1', 'b-2'] } })
  t.is(scenario.seen()[0]?.headers['anthropic-beta'], 'a-1, b-2')
})

test('headers: those about the client and its session reach the provider', async (t) => {
  const scenario = fixture.scenario()
  const headers = {
    accept: 'application/json',
    'user-agent': 'agent/1.0',
    'x-app': 'cli',
    'x-claude-code-session-id': 'session',
    'x-stainless-retry-count': '0',
  }
  await scenario.send({ body, headers })
  t.like(scenario.seen()[0]?.headers, headers)
})

test('headers: what is between the client and the gateway does not reach the provider', async (t) => {
  const scenario = fixture.scenario()
  const secret = 'only-for-the-gateway'
  const names = ['x-svc-other', 'x-provider-key', 'cookie', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']
  const more = ['forwarded', 'via', 'x-real-ip', 'true-client-ip', 'origin', 'referer', 'proxy-authorization', 'te']
  const given = Object.fromEntries([...names, ...more].map((name) => [name, secret]))
  await scenario.send({ body, headers: { ...given, 'x-svc-pipe': 'none', authorization: `Bearer ${secret}` } })
  const [seen] = scenario.seen()
  t.notRegex(String(seen?.rawHeaders.join('\n')), /only-for-the-gateway|x-svc/i)
  t.is(seen?.headers.host, new URL(fixture.provider.url).host)
})

test('headers: the caller cannot choose the address of the provider', async (t) => {
  const scenario = fixture.scenario()
  const elsewhere = 'http://127.0.0.1:1/'
  const headers = { 'x-portkey-custom-host': elsewhere, 'x-base-url': elsewhere, host: '127.0.0.1:1' }
  t.is((await scenario.send({ body, headers })).status, 200)
  t.is(scenario.seen().length, 1)
})

test("headers: the provider's reply headers reach the client", async (t) => {
  const headers = {
    'request-id': 'req_of_the_provider',
    'anthropic-organization-id': 'org_1',
    'anthropic-ratelimit-input-tokens-remaining': '79000',
    'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:00Z',
    'anthropic-future': 'yes',
    'retry-after': '17',
    'x-should-retry': 'true',
    'cf-ray': 'abc-FRA',
    'content-type': 'application/json; charset=utf-8',
  }
  const scenario = fixture.scenario({ kind: 'reply', status: 413, body: { type: 'error' }, headers })
  const reply = await scenario.send({ body })
  t.is(reply.status, 413)
  t.like(reply.headers, headers)
})

test("headers: a stream carries the provider's reply headers as well", async (t) => {
  const headers = { 'request-id': 'req_1', 'anthropic-ratelimit-requests-remaining': '7', 'x-future': '1' }
  const scenario = fixture.scenario({ kind: 'answer', headers })
  const reply = await scenario.send({ body: ask('hi', { stream: true }) })
  t.like(reply.headers, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
})

for (const stream of [false, true]) {
  test(`headers: what belongs to the provider's connection stays there (stream: ${stream})`, async (t) => {
    const headers = {
      'set-cookie': '__cf_bm=secret; path=/',
      'strict-transport-security': 'max-age=1',
      'alt-svc': 'h3=":443"',
      'proxy-authenticate': 'Basic',
      trailer: 'x-trailing',
      'transfer-encoding': 'chunked',
      connection: 'keep-alive, x-hop, X-Other-Hop',
      'x-hop': 'one hop only',
      'x-other-hop': 'one hop only',
    }
    const scenario = fixture.scenario({ kind: 'answer', headers })
    const reply = await scenario.send({ body: ask('hi', { stream }) })
    t.is(reply.status, 200)
    const names = Object.keys(reply.headers)
    const { connection: _, 'transfer-encoding': __, ...hopByHop } = headers
    t.deepEqual(
      names.filter((name) => name in hopByHop),
      [],
    )
    t.notRegex(String(reply.headers.connection), /x-hop/)
  })
}

/** Headers with which a reply acts on something else than its reader: one or two of each family. */
const ACTING = {
  'x-accel-redirect': '/etc/passwd',
  'x-accel-buffering': 'yes',
  'x-sendfile': '/etc/passwd',
  'x-lighttpd-send-file': '/etc/passwd',
  'x-reproxy-url': 'http://127.0.0.1/',
  'surrogate-control': 'max-age=3600',
  'cdn-cache-control': 'max-age=3600',
  location: 'http://127.0.0.1:1/',
  'content-location': '/elsewhere',
  link: '</x.js>; rel=preload',
  refresh: '0; url=http://127.0.0.1:1/',
  sourcemap: '/x.map',
  'www-authenticate': 'Basic realm="provider"',
  'authentication-info': 'x',
  'set-cookie': 'a=b',
  'service-worker-allowed': '/',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=*',
  'x-frame-options': 'DENY',
  'report-to': '{}',
  nel: '{}',
  'timing-allow-origin': '*',
  'sec-session-registration': '(ES256);path="x"',
  'use-as-dictionary': 'match="/*"',
  'no-vary-search': 'params',
  'attribution-reporting-register-source': '{}',
  'x-envoy-immediate-health-check-fail': 'true',
}

for (const [status, stream] of [
  [200, false],
  [200, true],
  [401, false],
] as const) {
  test(`headers: a provider's reply instructs neither proxies nor browsers (${status}, stream: ${stream})`, async (t) => {
    const headers = { ...ACTING, 'anthropic-future': 'yes' }
    const scenario = fixture.scenario(status === 200 ? { kind: 'answer', headers } : { kind: 'error', status, headers })
    const reply = await scenario.send({ body: ask('hi', { stream }) })
    t.is(reply.status, status)
    t.is(reply.headers['anthropic-future'], 'yes')
    t.deepEqual(
      Object.keys(reply.headers).filter((name) => name in ACTING),
      [],
    )
  })
}

for (const [said, sent] of [
  ['public, max-age=60', 'private, max-age=60'],
  ['max-age=60, s-maxage=600', 'private, max-age=60'],
  ['no-cache', 'private, no-cache'],
  ['private="set-cookie", max-age=60', 'no-store'],
  ['no-store, no-cache="set-cookie"', 'no-store'],
  ['no-store', 'no-store'],
  ['PRIVATE, max-age=5', 'private, max-age=5'],
] as const)
  for (const [what, request] of Object.entries({
    'a message': { body },
    'a stream': { body: ask('hi', { stream: true }) },
    'an allowed route': { method: 'GET', path: '/v1/files/file_1' },
  }))
    test(`headers: no shared cache may keep ${what} whose provider sends cache-control: ${said}`, async (t) => {
      const headers = { etag: '"1"', vary: 'accept', ...(said !== undefined && { 'cache-control': said }) }
      const scenario = fixture.scenario(
        what === 'an allowed route' ? { kind: 'reply', body: {}, headers } : { kind: 'answer', headers },
      )
      const reply = await scenario.send(request)
      t.is(reply.status, 200)
      t.like(reply.headers, { 'cache-control': sent, etag: '"1"', vary: 'accept' })
    })

for (const [what, path] of Object.entries({
  'a list of models': '/v1/models',
  'a file whose provider sends none': '/v1/files/file_2',
  'a balance': '/v1/billing/balance',
  'a list of receipts': '/v1/receipts',
  'an unknown path': '/nowhere',
}))
  test(`headers: no cache may keep ${what}`, async (t) => {
    const { headers } = await fixture.scenario().send({ method: 'GET', path })
    t.regex(String(headers['cache-control']), /^(?:no-store|private)$/)
  })

test('headers: no cache may keep the reply to what is not HTTP', async (t) => {
  const client = await connectRaw(fixture.gateway.port)
  client.write('nonsense\r\n\r\n')
  t.regex(await client.closed, /^HTTP\/1\.1 400 .*\r\ncache-control: no-store\r\n/s)
})

test('headers: a JSON reply has the length of its bytes and no other framing', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', writes: { sizes: [10] } })
  const reply = await scenario.send({ body })
  t.is(Number(reply.headers['content-length']), reply.body.length)
  t.is(reply.headers['transfer-encoding'], undefined)
})

const OWN_ID = /^req_[0-9a-f]{32}$/

for (const [claim, request] of Object.entries({
  'a probe': { method: 'GET', path: '/health' },
  'an unknown path': { method: 'GET', path: '/nowhere' },
  'a wrong method': { method: 'PUT' },
  'a body that is not JSON': { body: '{' },
  'a missing credential': { body, headers: { authorization: '' } },
  'a route that is not relayed': { path: '/v1/messages/batches', body },
  'local-mode billing': { path: '/v1/billing/checkout', body },
})) {
  test(`headers: the reply to ${claim} has a request id of its own`, async (t) => {
    const scenario = fixture.scenario()
    const ids = [await scenario.send(request), await scenario.send(request)].map(({ headers }) => headers['request-id'])
    t.regex(String(ids[0]), OWN_ID)
    t.not(ids[0], ids[1])
  })
}

test('headers: a failure of the provider is answered with a request id, in the body too', async (t) => {
  const scenario = fixture.scenario({ kind: 'garbage' })
  const reply = await scenario.send({ body })
  t.regex(String(reply.headers['request-id']), OWN_ID)
  t.like(reply.json, { request_id: reply.headers['request-id'] })
})

import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

const PAGE = 'https://app.example.com'
const [plain, open] = await Promise.all([
  openFixture({ env: { SVC_BUILD: 'build-7' } }),
  openFixture({
    provider: { acceptAnything: true },
    config: {
      server: { cors_origins: [PAGE] },
      receipts: { enabled: false },
      providers: { allow_routes: ['/v1/messages/batches', '/v1/files'] },
    },
  }),
])
test.after.always(() => Promise.all([plain.close(), open.close()]))

for (const path of ['/', '/api/hello']) {
  test(`routes: HEAD ${path} answers 200 without a credential`, async (t) => {
    const reply = await plain.scenario().send({ method: 'HEAD', path, headers: { authorization: '' } })
    t.like(reply, { status: 200, text: '', endedCleanly: true })
  })
}

test('routes: /health answers as specified, and calls no provider', async (t) => {
  const scenario = plain.scenario()
  const { status, json } = await scenario.send({ method: 'GET', path: '/health', headers: { authorization: '' } })
  t.is(status, 200)
  t.like(json, { status: 'ok', version: 'build-7', providers: { anthropic: true } })
  const uptime = Number(valueAt(json, 'uptime'))
  const startedAt = Number(valueAt(json, 'startedAt'))
  t.true(uptime > 0 && uptime < 3600)
  t.true(Number.isInteger(startedAt) && startedAt <= Date.now() && startedAt > Date.now() - 3_600_000)
  t.is(scenario.seen().length, 0)
})

test('routes: token counts are relayed with their query', async (t) => {
  const scenario = plain.scenario()
  const { max_tokens: _, ...body } = ask('count me')
  const reply = await scenario.send({ path: '/v1/messages/count_tokens?beta=true', body })
  t.is(reply.status, 200)
  t.true(Number(valueAt(reply.json, 'input_tokens')) > 0)
  t.is(scenario.seen()[0]?.url, '/v1/messages/count_tokens?beta=true')
})

for (const [claim, body, pattern] of [
  ['no model', '{"messages":[]}', /model/],
  ['a body that is not JSON', '{"model":', /JSON/],
  ['an unknown prefix', '{"model":"nobody/x","messages":[]}', /nobody/],
] as const) {
  test(`routes: a token count with ${claim} is answered 400`, async (t) => {
    const scenario = plain.scenario()
    const reply = await scenario.send({ path: '/v1/messages/count_tokens', body })
    t.is(reply.status, 400)
    t.like(reply.json, { error: { type: 'invalid_request' } })
    t.regex(String(valueAt(reply.json, 'error.message')), pattern)
    t.is(scenario.seen().length, 0)
  })
}

test('routes: the list of models is in the shape of both families of clients', async (t) => {
  const { status, json } = await plain.scenario().send({ method: 'GET', path: '/v1/models' })
  t.is(status, 200)
  t.like(json, { object: 'list', has_more: false })
  const first = valueAt(json, 'data.0')
  t.like(first, { object: 'model', type: 'model', owned_by: 'anthropic' })
  t.is(valueAt(json, 'first_id'), valueAt(first, 'id'))
  t.is(Date.parse(String(valueAt(first, 'created_at'))) / 1000, Number(valueAt(first, 'created')))
})

test('routes: the list of models is given in pages', async (t) => {
  const list = async (query: string) =>
    (await plain.scenario().send({ method: 'GET', path: `/v1/models${query}` })).json
  const all = await list('')
  const [page, next] = [await list('?limit=2'), await list(`?limit=1000&after_id=${valueAt(all, 'data.1.id')}`)]
  t.is(valueAt(page, 'data.length'), 2)
  t.is(valueAt(page, 'has_more'), true)
  t.is(valueAt(next, 'data.0.id'), valueAt(all, 'data.2.id'))
  t.is(valueAt(next, 'has_more'), false)
})

test('routes: a page that is no size of one is refused', async (t) => {
  const reply = await plain.scenario().send({ method: 'GET', path: '/v1/models?limit=5000' })
  t.is(reply.status, 400)
  t.like(reply.json, { error: { type: 'invalid_request' } })
})

test('routes: a single model is found by its name, and a wrong name gets the nearest', async (t) => {
  const list = await plain.scenario().send({ method: 'GET', path: '/v1/models' })
  const id = String(valueAt(list.json, 'data.0.id'))
  const found = await plain.scenario().send({ method: 'GET', path: `/v1/models/${id}` })
  t.like(found.json, { id, object: 'model' })
  const missed = await plain.scenario().send({ method: 'GET', path: `/v1/models/${id}x` })
  t.is(missed.status, 404)
  t.true(String(valueAt(missed.json, 'error.message')).includes(`\`${id}\``))
})

const escaping = ['/v1/messages/batches', '/v1/messages/batches/msgbatch_1/results', '/v1/files', '/v1/files/file_1']

for (const path of escaping) {
  test(`routes: ${path} answers 404 and explains how the operator can allow it`, async (t) => {
    const scenario = plain.scenario()
    for (const request of [{ body: ask('hi') }, { method: 'GET' }, { method: 'DELETE' }]) {
      const reply = await scenario.send({ path, ...request })
      t.is(reply.status, 404)
      t.like(reply.json, { type: 'error', error: { type: 'not_found' } })
      t.regex(String(valueAt(reply.json, 'error.message')), /providers\.allow_routes/)
    }
    t.is(scenario.seen().length, 0)
  })
}

test('routes: an allowed route is relayed byte for byte, with everything below it', async (t) => {
  const bytes = Buffer.from([0, 1, 2, 255, 254, 10, 13])
  const headers = { 'content-type': 'application/octet-stream' }
  for (const path of [...escaping, '/v1/files/file_1/content?x=1']) {
    for (const request of [
      { method: 'GET' },
      { method: 'DELETE' },
      { method: 'POST', body: bytes, headers: { 'content-type': 'multipart/form-data; boundary=x' } },
    ]) {
      const scenario = open.scenario({ kind: 'reply', status: 202, body: bytes, headers })
      const reply = await scenario.send({ path, ...request })
      t.is(reply.status, 202)
      t.deepEqual(reply.body, bytes)
      const [seen] = scenario.seen()
      t.like(seen, { method: request.method, url: path })
      t.deepEqual(seen?.raw, request.body ?? Buffer.alloc(0))
      t.is(reply.headers['content-type'], 'application/octet-stream')
    }
  }
})

test('routes: what is not allowed stays closed although its neighbour is open', async (t) => {
  const reply = await open.scenario().send({ path: '/v1/messages/batchesx', body: ask('hi') })
  t.is(reply.status, 404)
})

for (const [method, path] of [
  ['GET', '/nowhere'],
  ['POST', '/v1/nowhere'],
  ['GET', '/v1'],
  ['POST', '/V1/messages'],
  ['POST', '/v1/messages/'],
  ['GET', '/health/'],
  ['GET', '/%2e%2e/etc/passwd'],
  ['GET', '/%ff'],
] as const) {
  test(`routes: ${method} ${path} answers 404 not_found`, async (t) => {
    const scenario = plain.scenario()
    const reply = await scenario.send({ method, path, ...(method === 'POST' && { body: ask('hi') }) })
    t.is(reply.status, 404)
    t.like(reply.json, { type: 'error', error: { type: 'not_found' } })
    t.is(scenario.seen().length, 0)
  })
}

for (const [method, path, hint] of [
  ['POST', '/v1/v1/messages', /Did you mean `\/v1\/messages`\? .*leave it out of the base URL/],
  ['POST', '/v1/v1/chat/completions', /`\/v1\/chat\/completions`.*leave it out of the base URL/],
  ['POST', '/chat/completions', /`\/v1\/chat\/completions`.*Put `\/v1` at the end/],
  ['POST', '/messages', /`\/v1\/messages`.*Put `\/v1` at the end/],
  ['GET', '/models', /`\/v1\/models`/],
  ['POST', '/v1/messages/', /Did you mean `\/v1\/messages`/],
  ['POST', '//v1/messages', /Did you mean `\/v1\/messages`/],
  ['POST', '/v1//messages', /Did you mean `\/v1\/messages`/],
  ['POST', '/anthropic/v1/messages', /Did you mean `\/v1\/messages`/],
  ['GET', '/health/', /Did you mean `\/health`/],
  ['POST', '/responses', /Did you mean `\/v1\/responses`/],
  ['POST', '/v1/completions', /\/v1\/chat\/completions/],
] as const) {
  test(`routes: ${method} ${path} is answered 404 with the path that is meant`, async (t) => {
    // As a whole address: two slashes at the beginning of a path would be read as a host.
    const address = plain.gateway.url + path
    const reply = await plain.scenario().send({ method, path: address, ...(method === 'POST' && { body: ask('hi') }) })
    t.is(reply.status, 404)
    t.like(reply.json, { type: 'error', error: { type: 'not_found' } })
    t.regex(String(valueAt(reply.json, 'error.message')), hint)
  })
}

test('routes: a path that resembles none is answered without a hint', async (t) => {
  const reply = await plain.scenario().send({ method: 'GET', path: '/v1/v1/nowhere' })
  t.is(valueAt(reply.json, 'error.message'), 'There is nothing at GET /v1/v1/nowhere.')
})

for (const [method, path, allow] of [
  ['GET', '/v1/messages', /\bPOST\b/],
  ['PUT', '/v1/messages', /\bPOST\b/],
  ['DELETE', '/v1/messages', /\bPOST\b/],
  ['GET', '/v1/messages/count_tokens', /\bPOST\b/],
  ['POST', '/v1/models', /\bGET\b/],
  ['POST', '/health', /\bGET\b/],
] as const) {
  test(`routes: ${method} ${path} answers 405 with allow`, async (t) => {
    const scenario = plain.scenario()
    const reply = await scenario.send({ method, path })
    t.is(reply.status, 405)
    t.regex(String(reply.headers.allow), allow)
    t.notRegex(String(reply.headers.allow), new RegExp(`\\b${method}\\b`))
    t.like(reply.json, { type: 'error' })
    t.is(scenario.seen().length, 0)
  })
}

test('routes: an unknown method is answered with an error body too', async (t) => {
  const reply = await plain.scenario().send({ method: 'PROPFIND' })
  t.true(reply.status === 405 || reply.status === 501, String(reply.status))
  t.like(reply.json, { type: 'error' })
})

const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    authorization: undefined,
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,anthropic-version,x-svc-pipe',
  },
})

test('routes: a preflight of a configured origin is granted', async (t) => {
  const scenario = open.scenario()
  const reply = await scenario.send(preflight(PAGE))
  t.is(reply.status, 204)
  t.is(reply.headers['access-control-allow-origin'], PAGE)
  t.regex(String(reply.headers['access-control-allow-methods']), /\bPOST\b/)
  const allowed = String(reply.headers['access-control-allow-headers']).toLowerCase()
  for (const name of ['authorization', 'content-type', 'anthropic-version', 'x-svc-pipe'])
    t.true(allowed.includes(name))
  t.regex(String(reply.headers.vary), /origin/i)
  t.is(scenario.seen().length, 0)
})

for (const [claim, fixture, origin] of [
  ['another origin', open, 'https://evil.example.com'],
  ['an origin that begins like a configured one', open, `${PAGE}.evil.com`],
  ['the null origin', open, 'null'],
  ['any origin when none is configured', plain, PAGE],
] as const) {
  test(`routes: a preflight of ${claim} is not granted`, async (t) => {
    const reply = await fixture.scenario().send(preflight(origin))
    t.is(reply.headers['access-control-allow-origin'], undefined)
  })
}

test('routes: a page of a configured origin may read replies, errors and streams', async (t) => {
  for (const request of [
    { body: ask('hi') },
    { body: '{' },
    { body: ask('hi', { stream: true }) },
    { method: 'GET' },
  ]) {
    const reply = await open.scenario().send({ ...request, headers: { origin: PAGE } })
    t.is(reply.headers['access-control-allow-origin'], PAGE)
    t.regex(String(reply.headers['access-control-expose-headers']), /request-id/i)
  }
})

for (const [method, path] of [
  ['POST', '/v1/keys'],
  ['GET', '/v1/keys'],
  ['PATCH', '/v1/keys/key_1'],
  ['DELETE', '/v1/keys/key_1'],
] as const) {
  test(`routes: ${method} ${path} answers 503 in local mode`, async (t) => {
    const reply = await plain.scenario().send({ method, path })
    t.is(reply.status, 503)
    t.like(reply.json, { type: 'error', error: { type: 'permission_error' } })
  })
}

for (const path of ['/v1/billing/checkout', '/v1/billing/portal']) {
  test(`routes: ${path} answers 503 billing_local_mode in local mode`, async (t) => {
    const reply = await plain.scenario().send({ path, body: {} })
    t.is(reply.status, 503)
    t.like(reply.json, { error: { type: 'permission_error', detail: 'billing_local_mode' } })
    t.regex(String(valueAt(reply.json, 'error.message')), /^billing_local_mode/)
  })
}

test('routes: the balance of local mode is the local record', async (t) => {
  const { status, json } = await plain.scenario().send({ method: 'GET', path: '/v1/billing/balance' })
  t.is(status, 200)
  t.like(json, { tier: 'local', credits: 0, currentPeriodEnd: null, autoRechargeEnabled: false, local: true })
})

test('routes: replies name a receipt, unless the operator wants none', async (t) => {
  const [one, other] = await Promise.all([plain, open].map((fixture) => fixture.scenario().send({ body: ask('hi') })))
  t.regex(String(one?.headers['x-svc-receipt']), /^rcpt_/)
  t.is(other?.status, 200)
  t.is(other?.headers['x-svc-receipt'], undefined)
})

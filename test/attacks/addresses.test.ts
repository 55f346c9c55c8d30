import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'

/*
 * An address in any field of a request is never called: only configured addresses are. The witness
 * listens at the address that is named, and the other providers are one server that takes everything.
 */

let touched = 0
const witness = createServer((_, response) => {
  touched++
  response.end('{}')
})
const others = createServer((request, response) => {
  request.resume()
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such model"}}')
})
const listen = (server: typeof witness) =>
  new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`)) // safe: TCP
  })
const named = await listen(witness)
const address = `http://${named}/taken`
const elsewhere = `http://${await listen(others)}`
const fixture = await openFixture({
  provider: { acceptAnything: true },
  config: { providers: { allow_routes: ['/v1/files'], tries: 1 } },
  env: { OPENAI_BASE_URL: elsewhere, OPENAI_API_KEY: 'sk-o', GEMINI_BASE_URL: elsewhere, GEMINI_API_KEY: 'AIza-g' },
})
test.after.always(async () => {
  await fixture.close()
  witness.close()
  others.close()
})

const block = (type: string) => ({ type, source: { type: 'url', url: address } })
const MESSAGES: readonly JsonObject[] = [
  { messages: [{ role: 'user', content: [block('image'), block('document'), { type: 'text', text: address }] }] },
  { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: address }] }] },
  { mcp_servers: [{ type: 'url', name: 'm', url: address, authorization_token: 'x' }] },
  { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', allowed_domains: [named] }] },
  { tools: [{ name: 'f', input_schema: { $ref: address, $schema: address, $id: address } }] },
  { container: address, metadata: { user_id: address, webhook: address } },
  { system: [{ type: 'text', text: `see ${address}`, citations: { url: address } }] },
  ...['base_url', 'api_base', 'endpoint', 'host', 'proxy', 'callback_url', 'url', 'redirect_uri', 'provider'].map(
    (name) => ({ [name]: address }),
  ),
]
const CHATS: readonly JsonObject[] = [
  { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: address } }] }] },
  { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: address, file_data: address } }] }] },
  { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { $ref: address } } } },
  { tools: [{ type: 'function', function: { name: 'f', parameters: { $ref: address } } }], base_url: address },
]
const HEADERS = [
  ...['host', 'forwarded', 'x-forwarded-host', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip', 'via', 'referer'],
  ...['x-original-url', 'x-rewrite-url', 'x-http-method-override', 'x-base-url', 'x-upstream', 'x-provider-base-url'],
  ...['x-portkey-custom-host', 'anthropic-base-url', 'openai-base-url', 'x-svc-upstream', 'x-svc-base-url', 'proxy'],
  ...[
    'x-stainless-base-url',
    'x-claude-code-base-url',
    'cf-connecting-ip',
    'true-client-ip',
    'location',
    'destination',
  ],
]

test.after('addresses: the witness was never called', (t) => t.is(touched, 0))

for (const model of ['claude-sonnet-4-5', 'openai/gpt-5', 'gemini/gemini-2.5-pro'])
  test(`addresses: nothing in the body of a request to ${model} is called by the gateway`, async (t) => {
    const headers = { 'x-svc-pipe': FULL_PIPELINE }
    for (const [path, bodies] of [
      ['/v1/messages', MESSAGES],
      ['/v1/chat/completions', CHATS],
      ['/v1/messages/count_tokens', MESSAGES],
    ] as const)
      for (const extra of bodies) {
        const { status, text } = await send(fixture.gateway.url, {
          path,
          headers,
          body: ask('hi', { ...extra, model }),
        })
        t.true([200, 400, 404].includes(status), `${path} ${JSON.stringify(extra)}: ${status} ${text}`)
      }
    t.is(touched, 0)
  })

test('addresses: no header and no query makes the gateway call another, or request another path', async (t) => {
  for (const name of HEADERS)
    for (const value of [address, named]) {
      const scenario = fixture.scenario()
      const { status } = await scenario.send({
        body: ask('hi'),
        headers: { [name]: value },
        path: `/v1/messages?${name}=${value}`,
      })
      t.true([200, 400].includes(status), `${name}: ${status}`)
      for (const seen of scenario.seen()) {
        t.is(seen.method, 'POST')
        t.is(seen.url.split('?')[0], '/v1/messages', name)
        t.is(`http://${seen.headers.host}`, fixture.provider.url)
      }
    }
  t.is(touched, 0)
})

for (const model of [
  'anthropic@evil/x',
  '../../x',
  'gemini/../../v1/files?x=',
  'openai/..%2f..',
  `${'http:'}//evil/x`,
  '//x',
  'gemini/a:b#c',
])
  test(`addresses: the model \`${model}\` leads nowhere else`, async (t) => {
    const scenario = fixture.scenario()
    const { status } = await scenario.send({ body: ask('hi', { model }) })
    t.true([200, 400, 404].includes(status), `${status}`)
    for (const { url } of scenario.seen()) t.is(url, '/v1/messages')
  })

for (const path of [
  ...[
    '/v1/files/../organizations',
    '/v1/files/%2e%2e/organizations',
    '/v1/files/..%2forganizations',
    '/v1/files/..;/x',
  ],
  ...[
    '/v1/files/a/../../x',
    '/v1/files/./x',
    '/v1/files//x',
    '/v1/files/..\\x',
    '/v1/files/%252e%252e/x',
    '/v1/files/%00',
  ],
])
  test(`addresses: below an allowed route, \`${path}\` is refused`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await scenario.send({ method: 'GET', path: `${fixture.gateway.url}/v1/files`, headers: {} })
    t.is(reply.status, 200)
    const { connectRaw } = await import('../support/raw-client.ts')
    const client = await connectRaw(fixture.gateway.port)
    client.write(
      `GET ${path} HTTP/1.1\r\nhost: a\r\nx-api-key: k\r\nconnection: close\r\nx-claude-code-scenario: ${Object.values(scenario.headers)[0]}\r\n\r\n`,
    )
    t.regex(await client.closed, /^HTTP\/1\.1 400 /)
    t.is(scenario.seen().length, 1)
  })

const LED = { host: 'evil.example:3099', origin: 'http://evil.example:3099' }
test('origin guard: a page under a rebound name is refused, and reaches no provider', async (t) => {
  const scenario = fixture.scenario()
  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/messages/count_tokens', '/v1/files'])
    t.is((await scenario.send({ path, body: ask('hi'), headers: LED })).status, 403)
  const marked = { host: 'evil.example', 'sec-fetch-site': 'same-origin' }
  t.is((await scenario.send({ body: ask('hi'), headers: marked })).status, 403)
  t.deepEqual(scenario.seen(), [])
  t.is((await scenario.send({ method: 'GET', path: '/metrics', headers: { host: 'evil.example' } })).status, 403)
})

test('origin guard: a program may use any name, and a page of this machine its own', async (t) => {
  const scenario = fixture.scenario()
  t.is((await scenario.send({ body: ask('hi'), headers: { host: 'turnpike:3099' } })).status, 200)
  const own = { host: 'localhost:3099', origin: 'http://localhost:3099' }
  t.is((await scenario.send({ body: ask('hi'), headers: own })).status, 200)
})

for (const path of ['/v1/models', '/v1/models/claude-sonnet-4-5', '/v1/receipts', '/v1/billing/balance', '/v1/files'])
  test(`origin guard: an unmarked GET ${path} under a public name is refused on loopback, and reaches no provider`, async (t) => {
    const scenario = fixture.scenario()
    const under = (host: string) => scenario.send({ method: 'GET', path, headers: { host } })
    t.is((await under('evil.example:3099')).status, 403)
    t.deepEqual(scenario.seen(), [])
    for (const host of ['127.0.0.1:3099', 'turnpike:3099', 'host.docker.internal:3099'])
      t.not((await under(host)).status, 403, host)
  })

test('origin guard: replies without user data are served under any name', async (t) => {
  for (const path of ['/health', '/ready', '/openapi.json'])
    t.is(
      (await send(fixture.gateway.url, { method: 'GET', path, headers: { host: 'evil.example' } })).status,
      200,
      path,
    )
})

const SPOOFED = {
  'x-svc-pipe': 'spoofed',
  'x-svc-cache': 'hit',
  'x-svc-receipt': 'rcpt_spoofed',
  'x-svc-model': 'spoofed',
  'payment-receipt': 'spoofed',
  'access-control-allow-origin': '*',
  'clear-site-data': '"*"',
  'content-security-policy': 'default-src spoofed',
  refresh: '0; url=http://spoofed',
  'set-cookie': 'turnpike_session=spoofed',
  'alt-svc': 'h3="spoofed:443"',
}
for (const kind of ['reply', 'sse'] as const)
  test(`headers: a provider can neither speak for the gateway nor to its browser (${kind})`, async (t) => {
    const body = { type: 'message', content: [] }
    const scenario = fixture.scenario(
      kind === 'sse'
        ? { kind, bytes: 'event: ping\ndata: {}\n\n', headers: SPOOFED }
        : { kind, body, headers: SPOOFED },
    )
    const { status, headers } = await scenario.send({ body: ask('hi') })
    t.is(status, 200)
    t.notRegex(JSON.stringify(headers), /spoofed|"\*"/)
    t.is(headers['x-svc-pipe'], 'none')
  })

test('headers: names that a client made up do not get into the headers of the reply', async (t) => {
  const evil = 'a\r\nset-cookie: b=c\r\n\u2028é'
  const scenario = fixture.scenario()
  for (const [path, extra] of [
    ['/v1/chat/completions', { [evil]: 1, messages: [{ role: 'user', content: 'a', [evil]: 2 }] }],
    ['/v1/messages', { model: evil }],
    ['/v1/chat/completions', { model: evil }],
    ['/v1/messages', { model: 'claude-\u0000\u007f\ud800' }],
  ] as const) {
    const reply = await scenario.send({ path, body: ask('hi', extra) })
    t.true([200, 400].includes(reply.status), `${reply.status} ${reply.text}`)
    t.is(reply.headers['set-cookie'], undefined)
    t.regex(reply.rawHeaders.join(''), /^[\t -~]*$/)
  }
})

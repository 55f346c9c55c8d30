import test, { type ExecutionContext } from 'ava'
import { openFixture } from '../support/fixture.ts'
import { send } from '../support/http-client.ts'
import { connectRaw } from '../support/raw-client.ts'

/*
 * Requests that two readers take for different ones. The provider's stand-in accepts anything, so whatever is smuggled
 * would be seen there.
 */

const config = { server: { header_timeout: '2s', body_timeout: '3s' } }
const fixture = await openFixture({ provider: { acceptAnything: true }, config })
test.after.always(() => fixture.close())

const BODY = '{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
const HIDDEN =
  'POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: k\r\nx-claude-code-scenario: smuggled\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n'
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

interface Attack {
  /** Lines after `host`, `x-api-key`, `content-type` and the scenario. */
  readonly lines: readonly string[]
  readonly body: string
  readonly requestLine?: string
  /** Ends each line of the head. */
  readonly lineEnd?: string
}

async function attack(t: ExecutionContext, { lines, body, requestLine, lineEnd = '\r\n' }: Attack) {
  const scenario = fixture.scenario()
  const name = String(Object.values(scenario.headers)[0])
  const client = await connectRaw(fixture.gateway.port)
  const own = ['host: a', 'x-api-key: k', 'content-type: application/json', `x-claude-code-scenario: ${name}`]
  const head = [requestLine ?? 'POST /v1/messages HTTP/1.1', ...own, ...lines].join(lineEnd)
  client.write(`${head}${lineEnd}${lineEnd}${body}`)
  const reply = await client.closed
  await fixture.assertSound(t, scenario)
  return { reply, statuses: [...reply.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)), scenario }
}

const LENGTH = `content-length: ${BODY.length}`
/** Refused before anything is read of the body: nothing reaches the provider, and the connection is closed. */
const REFUSED: Readonly<Record<string, Attack>> = {
  'both a length and chunks': { lines: [LENGTH, 'transfer-encoding: chunked'], body: chunked(BODY) + HIDDEN },
  'a short length and chunks': {
    lines: ['content-length: 4', 'transfer-encoding: chunked'],
    body: chunked(BODY) + HIDDEN,
  },
  'two lengths': { lines: [LENGTH, 'content-length: 0'], body: BODY + HIDDEN },
  'the same length twice': { lines: [LENGTH, LENGTH], body: BODY + HIDDEN },
  'a length that is a list': { lines: [`content-length: ${BODY.length}, ${BODY.length}`], body: BODY + HIDDEN },
  'a length with a sign': { lines: [`content-length: +${BODY.length}`], body: BODY },
  'a negative length': { lines: ['content-length: -1'], body: BODY },
  'a length in hexadecimal': { lines: ['content-length: 0x10'], body: BODY },
  'a length beyond all numbers': { lines: ['content-length: 99999999999999999999999'], body: BODY },
  'chunks under another name': { lines: ['transfer-encoding: xchunked'], body: chunked(BODY) + HIDDEN },
  'chunks that are not last': { lines: ['transfer-encoding: chunked, identity'], body: chunked(BODY) + HIDDEN },
  'chunks behind a vertical tab': { lines: ['transfer-encoding:\x0bchunked'], body: chunked(BODY) + HIDDEN },
  'a space before the colon': { lines: ['transfer-encoding : chunked', LENGTH], body: BODY + HIDDEN },
  'a folded header': { lines: ['x-a: b', ' transfer-encoding: chunked', LENGTH], body: BODY },
  'line feeds alone': { lines: [LENGTH], body: BODY, lineEnd: '\n' },
  'carriage returns alone': { lines: [LENGTH], body: BODY, lineEnd: '\r' },
  'a NUL in a header': { lines: [LENGTH, 'x-a: b\0c'], body: BODY },
  'a carriage return in a header': { lines: [LENGTH, 'x-a: b\rx-b: c'], body: BODY },
  'a header without a name': { lines: [LENGTH, ': c'], body: BODY },
  'a chunk size in no number': { lines: ['transfer-encoding: chunked'], body: `zz\r\n${BODY}\r\n0\r\n\r\n` },
  'a chunk size beyond all numbers': { lines: ['transfer-encoding: chunked'], body: `fffffffffffffffff\r\n${BODY}` },
  'a chunk longer than its size': { lines: ['transfer-encoding: chunked'], body: `1\r\n${BODY}\r\n0\r\n\r\n${HIDDEN}` },
  'a chunk that ends with a line feed': { lines: ['transfer-encoding: chunked'], body: `1\n{\n0\n\n${HIDDEN}` },
  'a chunk extension with a line feed': { lines: ['transfer-encoding: chunked'], body: `1;a=\n${HIDDEN}` },
  'a space in the target': { lines: [LENGTH], body: BODY, requestLine: 'POST /v1/messages /x HTTP/1.1' },
  'another version': { lines: [LENGTH], body: BODY, requestLine: 'POST /v1/messages HTTP/9.9' },
}

for (const [what, each] of Object.entries(REFUSED)) {
  test(`smuggling: a request with ${what} is refused, and the connection ends with it`, async (t) => {
    const { reply, statuses, scenario } = await attack(t, each)
    t.deepEqual(statuses, [400], reply.slice(0, 300))
    t.deepEqual(scenario.seen(), [])
    t.false(fixture.provider.seen.some(({ headers }) => headers['x-claude-code-scenario'] === 'smuggled'))
  })
}

test('smuggling: the trailer of a chunked body adds no header', async (t) => {
  const trailer = `${BODY.length.toString(16)};name="value"\r\n${BODY}\r\n0\r\nanthropic-beta: smuggled\r\nx-svc-pipe: nonsense\r\n\r\n`
  const { statuses, scenario } = await attack(t, {
    lines: ['transfer-encoding: chunked', 'connection: close'],
    body: trailer,
  })
  t.deepEqual(statuses, [200])
  const [seen] = scenario.seen()
  t.is(seen?.headers['anthropic-beta'], undefined)
  t.is(seen?.headers['transfer-encoding'], undefined)
  t.is(seen?.raw.toString(), BODY)
})

test('smuggling: what follows a body is a request of its own, with its own credential', async (t) => {
  const second = 'POST /v1/messages HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
  const { reply, statuses, scenario } = await attack(t, { lines: [LENGTH], body: BODY + second })
  t.deepEqual(statuses, [200, 401], reply)
  t.is(scenario.seen().length, 1)
})

test('smuggling: an upgrade, a tunnel and a trace are none', async (t) => {
  for (const [requestLine, lines] of [
    ['GET /v1/models HTTP/1.1', ['connection: upgrade', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__']],
    ['GET /v1/models HTTP/1.1', ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-key: a']],
    ['CONNECT 127.0.0.1:22 HTTP/1.1', []],
    ['TRACE / HTTP/1.1', []],
  ] as const) {
    const { reply } = await attack(t, { requestLine, lines: [...lines, 'connection: close'], body: '' })
    t.notRegex(reply, /HTTP\/1\.1 (101|2\d\d Connection)|x-api-key/, requestLine)
  }
})

test('oversized: headers, targets and texts that are too long are refused, and the gateway keeps serving', async (t) => {
  const long = (length: number) => 'x'.repeat(length)
  const { statuses } = await attack(t, { lines: [LENGTH, `x-a: ${long(20_000)}`], body: BODY })
  t.deepEqual(statuses, [400])
  const many = Array.from({ length: 5000 }, (_, i) => `x-${i}: a`)
  t.deepEqual((await attack(t, { lines: [LENGTH, ...many], body: BODY })).statuses, [400])
  const target = await attack(t, {
    requestLine: `POST /v1/messages?${long(20_000)} HTTP/1.1`,
    lines: [LENGTH],
    body: BODY,
  })
  t.deepEqual(target.statuses, [400])
  const headers = { 'x-svc-pipe': `exact-cache?ttl=${long(8000)}` }
  t.is((await send(fixture.gateway.url, { body: BODY, headers })).status, 400)
})

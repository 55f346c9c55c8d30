import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'
import test from 'ava'
import { isDrill, sampled } from '../support/drill.ts'
import { openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { hasProcessFacts } from '../support/process-facts.ts'
import { connectRaw } from '../support/raw-client.ts'

/*
 * Bodies that are made to cost more than they weigh. The gateway takes few bytes from its provider, so that a bomb must
 * burst early, and is asked for its health after each.
 */

const MB = 1024 * 1024
const config = {
  server: { body_limit: '8MB' },
  providers: { reply_limit: '1MB', tries: 1 },
  costs: { per_request: 100, per_day: 100 },
}
const fixture = await openFixtureWith(startGatewayProcess, { provider: { acceptAnything: true }, config })
test.after.always(() => fixture.close())

const memoryMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${fixture.gateway.pid}/status`, 'utf8'))?.[1]) / 1024

const CODERS = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: zlib.zstdCompressSync,
}
const ROUTES = ['/v1/messages', '/v1/chat/completions', '/v1/messages/count_tokens']
const ZEROS = Buffer.alloc(64 * MB)

for (const [index, [encoding, encode]] of Object.entries(CODERS).entries()) {
  test.serial(`bombs: a request in ${encoding} is refused unopened`, async (t) => {
    const headers = { 'content-encoding': encoding }
    for (const path of ROUTES)
      t.is((await send(fixture.gateway.url, { path, headers, body: encode(ZEROS.subarray(0, MB)) })).status, 415)
  })

  test.serial(`bombs: a reply of 64 MB in a few KB of ${encoding} is 502, and takes no 64 MB`, async (t) => {
    const packed = encode(ZEROS)
    t.true(packed.length < MB)
    const headers = { 'content-encoding': encoding, 'content-type': 'application/json' }
    const before = hasProcessFacts ? memoryMb() : 0
    for (const status of sampled([200, 400, 500], index % 3)) {
      const scenario = fixture.scenario({ kind: 'reply', status, headers, body: packed })
      t.is((await scenario.send({ body: ask('hi') })).status, 502)
      await fixture.assertSound(t, scenario)
    }
    if (hasProcessFacts) t.true(memoryMb() < before + 128, `${before} MB became ${memoryMb()} MB`)
  })
}

test.serial('bombs: a body in chunks of one byte takes memory in proportion to its bytes', async (t) => {
  if (!hasProcessFacts) return t.pass('no /proc: memory is not looked at')
  const client = await connectRaw(fixture.gateway.port)
  const head = ['POST /v1/messages HTTP/1.1', 'host: a', 'x-api-key: k', 'content-type: application/json']
  client.write(`${[...head, 'transfer-encoding: chunked'].join('\r\n')}\r\n\r\n`)
  const before = memoryMb()
  const bytes = 1_000_000
  client.write('1\r\n \r\n'.repeat(bytes))
  client.write('0\r\n\r\n')
  await client.until('400 Bad Request') // white space is no JSON
  client.destroy()
  const grown = memoryMb() - before
  t.true(grown < 80, `${grown.toFixed()} MB for ${bytes} bytes`)
})

/** Size of what follows: in `npm test` a quarter of a drill's. */
const MANY = isDrill ? 1_000_000 : 250_000

const deep = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`
for (const [index, [what, body]] of Object.entries({
  'many lists': deep('[', ']', MANY),
  'many objects': deep('{"a":', '}', MANY),
  'many open lists': '['.repeat(MANY),
  'lists in a prompt': `{"model":"m","max_tokens":1,"messages":${deep('[', ']', MANY)}}`,
  'objects in an unknown field': `{"model":"m","max_tokens":1,"messages":[],"x":${deep('{"a":', '}', MANY)}}`,
  'results of tools in results of tools': `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":${deep('[{"type":"tool_result","tool_use_id":"a","content":', '}]', MANY / 10)}}]}`,
}).entries())
  test.serial(`deep JSON: ${what} inside each other are refused`, async (t) => {
    for (const path of sampled(ROUTES, 0, 1 + (index % 2))) {
      const reply = await send(fixture.gateway.url, { path, body, headers: { 'x-svc-pipe': FULL_PIPELINE } })
      t.is(reply.status, 400, reply.text.slice(0, 200))
    }
  })

test.serial('deep JSON: a reply of the provider that is nested without end does no harm', async (t) => {
  for (const body of [deep('[', ']', 1e5), `{"type":"message","usage":${deep('{"a":', '}', 1e5)}}`]) {
    const scenario = fixture.scenario({ kind: 'reply', body })
    const reply = await scenario.send({ body: ask('hi'), headers: { 'x-svc-pipe': FULL_PIPELINE } })
    t.is(reply.text, body)
    await fixture.assertSound(t, scenario)
  }
})

const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
for (const [index, [what, members]] of Object.entries({
  'a model’s name': { model: 'x'.repeat(MANY) },
  'a provider’s prefix': { model: `${'x'.repeat(MANY)}/y` },
  metadata: { metadata: { user_id: 'x'.repeat(MANY) } },
  'names of fields': Object.fromEntries(many(MANY / 20, (i) => [`field_${i}`, i])),
  'a tool’s name': { tools: [{ name: 'x'.repeat(MANY), input_schema: { type: 'object' } }] },
  tools: { tools: many(MANY / 50, (i) => ({ name: `t${i}`, input_schema: {} })) },
  messages: { messages: many(MANY / 25, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: 'a' })) },
}).entries())
  test.serial(`oversized: many bytes of ${what} passes or is refused in a few words`, async (t) => {
    const body = Buffer.from(JSON.stringify({ ...ask('hi'), ...members }))
    for (const path of sampled(ROUTES, 0, 1 + (index % 2))) {
      const reply = await send(fixture.gateway.url, { path, body, headers: { 'x-svc-pipe': FULL_PIPELINE } })
      t.true([200, 400].includes(reply.status), `${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
      t.true(reply.status === 200 || reply.body.length < 20_000, `${reply.body.length} bytes of refusal`)
    }
  })

const POLLUTING = '"__proto__":{"stream":true,"polluted":1},"constructor":{"prototype":{"stream":true,"polluted":1}}'
test.serial(
  'pollution: `__proto__` and `constructor` are members like others, in bodies, queries and pipelines',
  async (t) => {
    const text = `{${POLLUTING},"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi",${POLLUTING}}]}`
    const scenario = fixture.scenario()
    for (const path of ['/v1/messages?__proto__[a]=1&constructor=2', '/v1/chat/completions?__proto__=1']) {
      const reply = await scenario.send({ path, body: text, headers: { 'x-svc-pipe': FULL_PIPELINE } })
      t.is(reply.status, 200, reply.text)
      t.regex(String(reply.headers['content-type']), /json/)
    }
    t.is(scenario.seen()[0]?.raw.toString(), text)
    for (const pipe of ['__proto__', 'constructor', 'exact-cache?__proto__=1', 'exact-cache?constructor=1', 'toString'])
      t.is((await scenario.send({ body: ask('hi'), headers: { 'x-svc-pipe': pipe } })).status, 400, pipe)
    for (const model of ['__proto__', 'constructor/x', '__proto__/x', 'toString/x', 'hasOwnProperty'])
      t.true([200, 400].includes((await scenario.send({ body: ask('hi', { model }) })).status), model)
    const plain = await scenario.send({ body: ask('hi') })
    t.notRegex(plain.text + JSON.stringify(plain.headers), /polluted/)
    t.regex(String(plain.headers['content-type']), /json/)
    await fixture.assertSound(t, scenario)
  },
)

test.serial('escaped keys: no client can have a field of another client’s request misread', async (t) => {
  const bodyOf = (member: string) =>
    `{"user":"u",${member},"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"hi"}]}`
  const path = '/v1/chat/completions'
  await send(fixture.gateway.url, { path, body: bodyOf('"\\\\u006dax_t":1') })
  const scenario = fixture.scenario()
  const reply = await scenario.send({ path, body: bodyOf('"\\u006dax_tokens":7') })
  t.is(reply.status, 200, reply.text)
  t.is(scenario.seen()[0]?.json?.max_tokens, 7)
  await fixture.assertSound(t, scenario)
})

for (const [what, wrong] of Object.entries({ 'a text': '"a\\i"', 'a key': '[{"type":"text","te\\ixt":1,"text":"a"}]' }))
  test.serial(
    `wrong escapes: one in ${what} of a large body is 400, or the provider’s to refuse, on every route`,
    async (t) => {
      const padding = `"padding":"${'x'.repeat(9000)}"`
      const body = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":${wrong}}],${padding}}`
      const models = ['claude-sonnet-4-5', 'gemini/gemini-2.5-pro', 'openai/gpt-5']
      for (const path of ROUTES)
        for (const model of models)
          for (const pipe of ['none', FULL_PIPELINE]) {
            const sent = body.replace(models[0] ?? '', model)
            const reply = await send(fixture.gateway.url, { path, body: sent, headers: { 'x-svc-pipe': pipe } })
            t.true([200, 400, 401].includes(reply.status), `${path} ${model} ${pipe}: ${reply.status} ${reply.text}`)
          }
    },
  )

import { Agent, request } from 'node:http'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import test from 'ava'
import { assertMessageStream, parseEvents } from './events.ts'
import { ask, send } from './http-client.ts'
import { toMessage } from './provider/answers.ts'
import { toEvents, toSse } from './provider/message-events.ts'
import { type Encoding, holdEvent, type Script, slowDrip } from './provider/script.ts'
import { loadErrors, loadRecordings, toScript } from './recordings.ts'
import { startProvider } from './stand-in-provider.ts'

const headers = { 'x-api-key': 'sk-test' }
const streamed = { headers, body: ask('hello there', { stream: true }) }
const plain = { headers, body: ask('hello there') }
const message = toMessage({ body: plain.body, nth: 1 })

const decoders = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

for (const [encoding, decode] of Object.entries(decoders)) {
  test(`stand-in: compresses JSON and SSE with ${encoding}`, async (t) => {
    const script: Script = { kind: 'answer', encoding: encoding as Encoding, writes: { sizes: [50] } } // safe: a key above
    await using provider = await startProvider({ script })
    const [json, sse] = [await send(provider.url, plain), await send(provider.url, streamed)]
    t.deepEqual([json.headers['content-encoding'], sse.headers['content-encoding']], [encoding, encoding])
    t.like(JSON.parse(decode(json.body).toString()), { type: 'message' })
    t.notThrows(() => assertMessageStream(decode(sse.body)))
  })
}

test('stand-in: flushes each write of a compressed stream', async (t) => {
  const gate = Promise.withResolvers<void>()
  const script: Script = { kind: 'answer', encoding: 'gzip', writes: holdEvent(3, gate.promise) }
  await using provider = await startProvider({ script })
  let received = Buffer.alloc(0)
  const onChunk = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const soFar = gunzipSync(received, { finishFlush: 2 }) // Z_SYNC_FLUSH: the end is still missing
    if (parseEvents(soFar.toString()).length === 3) gate.resolve()
  }
  t.true((await send(provider.url, { ...streamed, onChunk })).endedCleanly)
})

test('stand-in: gives the nth request its script and the others the default', async (t) => {
  await using provider = await startProvider()
  provider.reply((_request, nth) => (nth < 3 ? { kind: 'error', status: 529 } : undefined))
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await send(provider.url, plain)).status)
  t.deepEqual(statuses, [529, 529, 200])
})

test('stand-in: counts only valid requests as nth', async (t) => {
  await using provider = await startProvider()
  provider.reply((_request, nth) => (nth === 1 ? { kind: 'reply', status: 418, body: 'tea' } : undefined))
  t.is((await send(provider.url, { headers, body: '{' })).status, 400)
  t.is((await send(provider.url, plain)).status, 418)
})

test('stand-in: an overloaded error has the provider shape', async (t) => {
  await using provider = await startProvider({
    script: { kind: 'error', status: 529, headers: { 'retry-after': '1' } },
  })
  const reply = await send(provider.url, plain)
  t.is(reply.headers['retry-after'], '1')
  t.like(reply.json, { type: 'error', error: { type: 'overloaded_error' }, request_id: reply.headers['request-id'] })
})

test('stand-in: resets the connection before the headers', async (t) => {
  await using provider = await startProvider({ script: { kind: 'break', at: 'before-headers' } })
  const reply = await send(provider.url, plain)
  t.like(reply, { status: 0, endedCleanly: false })
  t.is(reply.error?.code, 'ECONNRESET')
  t.is(await provider.seen[0]?.closed, 'cut')
})

test('stand-in: breaks the connection within the headers', async (t) => {
  await using provider = await startProvider({ script: { kind: 'break', at: 'mid-headers' } })
  t.like(await send(provider.url, plain), { status: 0, endedCleanly: false })
})

for (const [name, request] of Object.entries({ body: plain, stream: streamed })) {
  test(`stand-in: cuts a ${name} after exactly the bytes scripted`, async (t) => {
    await using provider = await startProvider({ script: { kind: 'answer', cutAfterBytes: 33 } })
    const reply = await send(provider.url, request)
    t.like(reply, { status: 200, endedCleanly: false })
    t.is(reply.body.length, 33)
    t.is(await provider.seen[0]?.closed, 'cut')
  })
}

test('stand-in: ends a stream early but cleanly', async (t) => {
  const bytes = toSse(toEvents(message).slice(0, -1))
  await using provider = await startProvider({ script: { kind: 'sse', bytes } })
  const reply = await send(provider.url, streamed)
  t.true(reply.endedCleanly)
  t.deepEqual(reply.body, bytes)
  t.throws(() => assertMessageStream(reply.body), { message: /without message_stop/ })
})

test('stand-in: hangs before the headers until the client disconnects', async (t) => {
  await using provider = await startProvider({ script: { kind: 'hang', at: 'before-headers' } })
  const leaving = new AbortController()
  const reply = send(provider.url, { ...plain, signal: leaving.signal })
  await provider.until(() => provider.seen.length === 1)
  t.is(provider.pending(), 1)
  leaving.abort()
  t.is((await reply).status, 0)
  t.is(await provider.seen[0]?.closed, 'client-left')
  await provider.until(() => provider.connections() === 0)
})

test('stand-in: a client that disconnects within its body is recorded with the received bytes, and not checked', async (t) => {
  await using provider = await startProvider()
  const broken = request(`${provider.url}/v1/messages`, {
    method: 'POST',
    headers: { ...headers, 'content-length': 100 },
  })
  broken.on('error', () => {}) // it is broken on purpose
  broken.write('{"model"')
  await provider.until(() => provider.pending() === 1)
  broken.destroy()
  await provider.until(() => provider.seen.length === 1)
  const [entry] = provider.seen
  t.deepEqual([entry?.raw.toString(), entry?.refused, await entry?.closed], ['{"model"', undefined, 'client-left'])
})

test('stand-in: hangs after the headers until it closes', async (t) => {
  const provider = await startProvider({ script: { kind: 'hang', at: 'after-headers' } })
  const reply = await send(provider.url, { ...streamed, onHeaders: () => void provider.close() })
  t.like(reply, { status: 200, endedCleanly: false })
  t.is(await provider.seen[0]?.closed, 'cut')
})

test('stand-in: answers garbage', async (t) => {
  await using provider = await startProvider({ script: { kind: 'garbage' } })
  const reply = await send(provider.url, plain)
  t.is(reply.status, 0)
  t.true(reply.error?.code?.startsWith('HPE_'))
})

test('stand-in: waits for a gate before the headers', async (t) => {
  const gate = Promise.withResolvers<void>()
  await using provider = await startProvider({ script: { kind: 'answer', before: { until: gate.promise } } })
  let hasHeaders = false
  const onHeaders = () => {
    hasHeaders = true
  }
  const reply = send(provider.url, { ...plain, onHeaders })
  await provider.until(() => provider.pending() === 1 && provider.seen.length === 1)
  t.false(hasHeaders)
  gate.resolve()
  t.is((await reply).status, 200)
})

test('stand-in: waits for a gate between two events', async (t) => {
  const gate = Promise.withResolvers<void>()
  await using provider = await startProvider({ script: { kind: 'answer', writes: holdEvent(2, gate.promise) } })
  let received = ''
  let atGate = 0
  const onChunk = (chunk: Buffer) => {
    received += chunk
    const { length } = parseEvents(received)
    if (length < 2) return
    atGate ||= length
    gate.resolve()
  }
  const reply = await send(provider.url, { ...streamed, onChunk })
  t.is(atGate, 2)
  t.notThrows(() => assertMessageStream(reply.body))
})

test('stand-in: drips single bytes up to its bound, then sends the rest', async (t) => {
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const between = (done: number) => (done === 0 ? undefined : { until: gates[done]!.promise })
  const writes = { ...slowDrip(1), between, atMost: 3 }
  await using provider = await startProvider({ script: { kind: 'reply', body: 'x'.repeat(1000), writes } })
  let arrived = 0
  const { chunks } = await send(provider.url, { ...plain, onChunk: () => gates[++arrived]?.resolve() })
  t.deepEqual(
    chunks.map(({ bytes }) => bytes),
    [1, 1, 1, 997],
  )
})

test('stand-in: serves every recording byte for byte', async (t) => {
  const { items, absent } = loadRecordings()
  if (absent) t.log(absent)
  await using provider = await startProvider({ acceptAnything: true })
  for (const { name, response } of [...items, ...loadErrors().items]) {
    provider.reply({ ...toScript(response), writes: { sizes: [1, 7, 4096] } })
    const reply = await send(provider.url, plain)
    t.is(reply.status, response.status, name)
    t.deepEqual(reply.body, response.bytes, name)
  }
  t.pass()
})

test('stand-in: counts the sockets of a pooled client until they close', async (t) => {
  await using provider = await startProvider()
  const agent = new Agent({ keepAlive: true })
  await send(provider.url, { ...plain, agent })
  await send(provider.url, { ...plain, agent })
  t.is(provider.connections(), 1)
  agent.destroy()
  await provider.until(() => provider.connections() === 0)
  t.is(provider.seen.length, 2)
})

test('stand-in: closing ends all waits', async (t) => {
  const provider = await startProvider()
  const waiting = t.throwsAsync(
    provider.until(() => false, 600_000),
    { message: /0 requests seen/ },
  )
  await provider.close()
  await waiting
})

test('stand-in: until() names its condition', async (t) => {
  await using provider = await startProvider()
  await t.throwsAsync(
    provider.until(() => provider.seen.length === 1, 1),
    { message: /seen\.length === 1.*0 requests seen/ },
  )
})

test('stand-in: a script that throws fails the test at close()', async (t) => {
  const provider = await startProvider({
    script: () => {
      throw new Error('bad script')
    },
  })
  t.is((await send(provider.url, plain)).status, 0)
  await t.throwsAsync(provider.close(), { message: 'bad script' })
})

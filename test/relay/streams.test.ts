import test from 'ava'
import { differenceOf } from '../support/difference.ts'
import { assertMessageStream } from '../support/events.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import { type Encoding, holdEvent, slowDrip } from '../support/provider/script.ts'

const pinging = await openFixture({ config: { server: { ping_interval: '100ms' } } })
const silent = await openFixture()
test.after.always(() => Promise.all([pinging.close(), silent.close()]))

const streamed = { body: ask('hello there', { stream: true }) }
const plain = { body: ask('hello there') }
const message = toMessage({ body: plain.body, nth: 1 }, { text: 'wörter '.repeat(300) })
const bytes = toSse(toEvents(message))
const OWN_PING = 'event: ping\ndata: {"type":"ping"}\n\n'

const encodings: Encoding[] = ['gzip', 'deflate', 'br', 'zstd']

for (const encoding of encodings) {
  test(`streams: a JSON reply compressed with ${encoding} reaches the client plain`, async (t) => {
    const body = JSON.stringify(message)
    const reply = await silent.scenario({ kind: 'reply', body, encoding, writes: { sizes: [7, 500] } }).send(plain)
    t.is(reply.status, 200)
    t.is(reply.headers['content-encoding'], undefined)
    t.is(differenceOf(reply.body, body), undefined)
  })

  test(`streams: a stream compressed with ${encoding} reaches the client plain, each event at once`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const scenario = silent.scenario({ kind: 'sse', bytes, encoding, writes: holdEvent(4, gate.promise) })
    let received = ''
    const onChunk = (chunk: Buffer) => {
      received += chunk
      if (received.split('\n\n').length > 4) gate.resolve() // the client has the fourth event while the fifth is held
    }
    const reply = await scenario.send({ ...streamed, onChunk })
    t.is(reply.headers['content-encoding'], undefined)
    t.is(differenceOf(reply.body, bytes), undefined)
  })

  test(`streams: an error reply compressed with ${encoding} reaches the client plain`, async (t) => {
    const reply = await silent.scenario({ kind: 'error', status: 400, message: 'no way', encoding }).send(plain)
    t.is(reply.status, 400)
    t.like(reply.json, { error: { message: 'no way' } })
  })
}

test('streams: the client’s accept-encoding is not forwarded', async (t) => {
  const scenario = silent.scenario()
  await scenario.send({ ...plain, headers: { 'accept-encoding': 'gzip, br' } })
  t.is(scenario.seen()[0]?.headers['accept-encoding'] ?? 'identity', 'identity')
})

test('streams: each event is relayed when it arrives, before the next one', async (t) => {
  const count = toEvents(message).length
  const gates = Array.from({ length: count + 1 }, () => Promise.withResolvers<void>())
  const between = (done: number) => ({ until: gates[done]!.promise })
  const scenario = silent.scenario({ kind: 'sse', bytes, writes: { sizes: 'events', between } })
  gates[0]!.resolve()
  let received = ''
  const onChunk = (chunk: Buffer) => {
    received += chunk
    gates[received.split('\n\n').length - 1]?.resolve() // event n+1 is sent only when the client has event n
  }
  const reply = await scenario.send({ ...streamed, onChunk })
  t.is(differenceOf(reply.body, bytes), undefined)
})

test('streams: the headers of a stream are sent before its first event', async (t) => {
  const gate = Promise.withResolvers<void>()
  const scenario = silent.scenario({ kind: 'sse', bytes, writes: holdEvent(0, gate.promise) })
  const reply = await scenario.send({ ...streamed, onHeaders: () => gate.resolve() })
  t.is(reply.status, 200)
})

test('streams: bytes that arrive one by one are relayed as whole events', async (t) => {
  const scenario = silent.scenario({ kind: 'sse', bytes, writes: slowDrip(1, 400) })
  const reply = await scenario.send(streamed)
  t.is(differenceOf(reply.body, bytes), undefined)
  let end = 0
  for (const chunk of reply.chunks) {
    end += chunk.bytes
    t.is(reply.body.toString('latin1', end - 2, end), '\n\n')
  }
})

/** Resolves `gate` when the client has seen two of the gateway's own pings. */
function afterTwoPings(gate: PromiseWithResolvers<void>): (chunk: Buffer) => void {
  let received = ''
  return (chunk) => {
    received += chunk
    if (received.split(OWN_PING).length > 2) gate.resolve()
  }
}

for (const [claim, held] of [
  ['between two events', bytes.indexOf('\n\n', 2000) + 2],
  ['within an event', bytes.indexOf('\n\n', 2000) + 30],
] as const) {
  test(`streams: a silence ${claim} is filled with pings between whole events`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const between = (done: number) => (done === 1 ? { until: gate.promise } : undefined)
    const scenario = pinging.scenario({ kind: 'sse', bytes, writes: { sizes: [held, bytes.length], between } })
    const reply = await scenario.send({ ...streamed, onChunk: afterTwoPings(gate) })
    t.notThrows(() => assertMessageStream(reply.body))
    t.is(differenceOf(reply.text.replaceAll(OWN_PING, ''), bytes), undefined)
  })
}

test('streams: a silence before the first event is not filled: a client waits for message_start', async (t) => {
  const between = (done: number) => (done === 0 ? { delayMs: 500 } : undefined)
  const scenario = pinging.scenario({ kind: 'sse', bytes, writes: { sizes: [bytes.length], between } })
  t.is((await scenario.send(streamed)).text, bytes.toString())
})

test('streams: a provider’s ping before message_start is relayed, and the gateway adds none', async (t) => {
  const first = 'event: ping\ndata: {"type": "ping"}\n\n'
  const between = (done: number) => (done === 1 ? { delayMs: 500 } : undefined)
  const writes = { sizes: [first.length, bytes.length], between }
  const scenario = pinging.scenario({ kind: 'sse', bytes: first + bytes, writes })
  t.is((await scenario.send(streamed)).text, first + bytes)
})

test('streams: no pings follow message_stop while the provider holds its connection open', async (t) => {
  const all = `${bytes}: bye\n\n`
  const between = (done: number) => (done === 1 ? { delayMs: 500 } : undefined)
  const scenario = pinging.scenario({ kind: 'sse', bytes: all, writes: { sizes: [bytes.length], between } })
  t.is((await scenario.send(streamed)).text, all)
})

test('streams: a JSON reply that is late gets no pings', async (t) => {
  const body = JSON.stringify(message)
  const reply = await pinging.scenario({ kind: 'reply', body, before: { delayMs: 350 } }).send(plain)
  t.is(reply.text, body)
})

test('streams: an error event of the provider ends the stream and is relayed unchanged', async (t) => {
  const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  const text = toSse(toEvents(message).slice(0, 3)) + error
  const scenario = silent.scenario({ kind: 'sse', bytes: text })
  const reply = await scenario.send(streamed)
  t.is(reply.text, text)
  t.true(reply.endedCleanly)
})

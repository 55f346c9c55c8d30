import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openFixtureWith, type Scenario } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask } from '../support/http-client.ts'
import { hasProcessFacts, residentBytes } from '../support/process-facts.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'
import { connectRaw } from '../support/raw-client.ts'

const fixture = await openFixtureWith(startGatewayProcess)
test.after.always(async () => fixture.close())
test.after('leaving: nothing is left of all of them', (t) => fixture.assertClean(t))

const never = new Promise<void>(() => {})
const body = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
const events = toEvents(toMessage({ body, nth: 1 }, { text: 'A few words and' }))
const bytes = toSse(events)
const ends = events.map((_event, index) => toSse(events.slice(0, index + 1)).length)

for (const pipe of ['none', 'exact-cache']) {
  const headers = { 'x-svc-pipe': pipe }

  test(`leaving: a client that leaves at any event of a stream ends the provider's call at once (${pipe})`, async (t) => {
    await Promise.all(
      events.map(async (_event, index) => {
        const scenario = fixture.scenario({ kind: 'sse', bytes, writes: holdEvent(index, never) })
        const leaving = new AbortController()
        let received = 0
        const onChunk = (chunk: Buffer) => {
          received += chunk.length
          if (received >= ends[index - 1]!) leaving.abort()
        }
        const request = { body: ask(`leave at ${index} ${pipe}`, { stream: true }), headers }
        const reply = scenario.send({ ...request, onChunk, signal: leaving.signal })
        await fixture.provider.until(() => scenario.seen().length === 1)
        if (index === 0) leaving.abort()
        t.is(await scenario.seen()[0]?.closed, 'client-left')
        t.is((await reply).body.toString(), bytes.toString('utf8', 0, ends[index - 1] ?? 0))
        t.is(scenario.seen().length, 1)
      }),
    )
    await fixture.assertSound(t, fixture.scenario())
  })

  for (const stream of [false, true]) {
    test(`leaving: a client that leaves before the headers ends the provider's call at once (${pipe}, stream: ${stream})`, async (t) => {
      const scenario = fixture.scenario({ kind: 'hang', at: 'before-headers' })
      const leaving = new AbortController()
      const request = { body: ask(`leave early ${pipe} ${stream}`, { stream }), headers }
      const reply = scenario.send({ ...request, signal: leaving.signal })
      await fixture.provider.until(() => scenario.seen().length === 1)
      leaving.abort()
      await reply
      t.is(await scenario.seen()[0]?.closed, 'client-left')
      t.is(scenario.seen().length, 1)
      await fixture.assertSound(t, scenario)
    })
  }

  test(`leaving: a client that leaves within a JSON reply ends the provider's call at once (${pipe})`, async (t) => {
    const scenario = fixture.scenario({ kind: 'answer', writes: { sizes: [30], between: { until: never } } })
    const leaving = new AbortController()
    const reply = scenario.send({ body: ask(`leave json ${pipe}`), headers, signal: leaving.signal })
    await fixture.provider.until(() => scenario.seen().length === 1)
    leaving.abort()
    await reply
    t.is(await scenario.seen()[0]?.closed, 'client-left')
    await fixture.assertSound(t, scenario)
  })
}

test('leaving: a client that leaves while the gateway waits to try again is not tried for again', async (t) => {
  const scenario = fixture.scenario((_request, nth) =>
    nth === 1
      ? { kind: 'error', status: 529, headers: { 'retry-after': '1' } }
      : { kind: 'hang', at: 'before-headers' },
  )
  const leaving = new AbortController()
  const request = { body: ask('leave in the pause', { model: 'claude-left-in-the-pause' }) }
  const reply = scenario.send({ ...request, signal: leaving.signal })
  await fixture.provider.until(() => scenario.seen()[0]?.ended === 'finished')
  leaving.abort()
  await reply
  // A later request that waits as long proves that the time for a second try has passed.
  const other = fixture.scenario((_request, nth) =>
    nth === 1 ? { kind: 'error', status: 529, headers: { 'retry-after': '1' } } : undefined,
  )
  t.is((await other.send({ body: ask('wait as long') })).status, 200)
  t.is(scenario.seen().length, 1)
})

test('leaving: other streams continue when one client disconnects', async (t) => {
  const gate = Promise.withResolvers<void>()
  const script: Script = { kind: 'sse', bytes, writes: holdEvent(4, gate.promise) }
  const [leaver, stayer] = [fixture.scenario(script), fixture.scenario(script)]
  const leaving = new AbortController()
  const left = leaver.send({ body: ask('leaver', { stream: true }), signal: leaving.signal })
  const stayed = stayer.send({ body: ask('stayer', { stream: true }) })
  await fixture.provider.until(() => leaver.seen().length + stayer.seen().length === 2)
  leaving.abort()
  await left
  t.is(await leaver.seen()[0]?.closed, 'client-left')
  gate.resolve()
  t.is((await stayed).text, bytes.toString())
})

const head = (scenario: Scenario, more = '') =>
  `POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\n${Object.entries(
    scenario.headers,
  )
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${more}`

test('leaving: a client that leaves within its own request calls no provider', async (t) => {
  const scenario = fixture.scenario()
  for (const framing of ['content-length: 1000', 'transfer-encoding: chunked']) {
    const client = await connectRaw(fixture.gateway.port)
    client.write(head(scenario, `${framing}\r\n\r\n40\r\n{"model":"claude-x","max_tokens":1`))
    client.destroy()
    await client.closed
  }
  t.is((await scenario.send({ body: ask('after them') })).status, 200)
  t.is(scenario.seen().length, 1)
  await fixture.assertSound(t, scenario)
})

test('leaving: bytes that are not HTTP are answered 400 or cut, and do no harm', async (t) => {
  const scenario = fixture.scenario()
  for (const noise of ['\x16\x03\x01\x02\x00\x01', 'GET\r\n\r\n', `GET /${'x'.repeat(70_000)} HTTP/1.1\r\n\r\n`]) {
    const client = await connectRaw(fixture.gateway.port)
    client.write(noise)
    t.regex(await client.closed, /^$|^HTTP\/1\.1 4\d\d /)
  }
  await fixture.assertSound(t, scenario)
})

const PIECE_BYTES = 64 * 1024
const PIECES = 1024
/** Far more than the sockets of both connections hold, and far less than the stream. */
const MOST_GROWTH_BYTES = 40 * 1024 * 1024

/** Builds a valid stream of 64 MB in events of 64 KB. */
function longStream(): Buffer {
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } }
  const empty = toSse([delta]).length
  const big = toSse([{ ...delta, delta: { ...delta.delta, text: 'x'.repeat(PIECE_BYTES - empty) } }])
  const [start, ...rest] = [toSse(events.slice(0, 2)), ...Array.from({ length: PIECES }, () => big)]
  return Buffer.concat([start!, ...rest, toSse(events.slice(-3))])
}

for (const pipe of ['none', 'exact-cache']) {
  test.serial(
    `leaving: a client that stops reading stops the provider, and memory stays bounded (${pipe})`,
    async (t) => {
      const stream = longStream()
      let written = 0
      const between = (done: number) => {
        written = done
        return undefined
      }
      const scenario = fixture.scenario({
        kind: 'sse',
        bytes: stream,
        writes: { sizes: [PIECE_BYTES], between, atMost: 5000 },
      })
      const before = hasProcessFacts ? residentBytes(fixture.gateway.pid) : 0
      const client = await connectRaw(fixture.gateway.port)
      const json = JSON.stringify(ask(`a long answer ${pipe}`, { stream: true }))
      client.write(`${head(scenario, `x-svc-pipe: ${pipe}\r\ncontent-length: ${json.length}\r\n\r\n`)}${json}`)
      await client.until('message_start')
      client.pause()
      const stalled = await restsAt(() => written)
      t.true(stalled < PIECES, 'the provider could send everything, although it was not read')
      if (hasProcessFacts) {
        const grown = residentBytes(fixture.gateway.pid) - before
        t.log(`grew by ${grown}, stalled at ${stalled}`)
        t.true(grown < MOST_GROWTH_BYTES, `grew by ${grown} bytes`)
      }
      client.resume()
      await client.until('"message_stop"')
      client.destroy()
      t.true(client.receivedBytes() > PIECES * PIECE_BYTES)
      await fixture.assertSound(t, scenario)
    },
  )
}

test.serial('leaving: a client that leaves while it reads nothing ends the call of the provider', async (t) => {
  const scenario = fixture.scenario({
    kind: 'sse',
    bytes: longStream(),
    writes: { sizes: [PIECE_BYTES], atMost: 5000 },
  })
  const client = await connectRaw(fixture.gateway.port)
  const json = JSON.stringify(ask('a long answer, unread', { stream: true }))
  client.write(`${head(scenario, `content-length: ${json.length}\r\n\r\n`)}${json}`)
  await client.until('message_start')
  client.pause()
  client.destroy()
  t.is(await scenario.seen()[0]?.closed, 'client-left')
})

/** Polls `read` until its value has not changed for a while: no event reports that. */
async function restsAt(read: () => number): Promise<number> {
  let last = -1
  let same = 0
  await eventually(() => {
    same = read() === last ? same + 1 : 0
    last = read()
    return same > 15
  }, 'the sender comes to a rest')
  return last
}

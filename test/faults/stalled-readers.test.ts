import { once } from 'node:events'
import { type IncomingMessage, request as startRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { type Fixture, openFixture, type Scenario } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'
import { connectRaw, type RawClient } from '../support/raw-client.ts'

/*
 * Replies are larger than the network's buffers, so that a client that does not read holds them up.
 */

const MB = 1024 * 1024
const ASKED = { max_tokens: 10_000_000, messages: [{ role: 'user', content: 'hi' }] }
/** A word of 64 KB is one event: bytes are held up, however few the events. */
const WORD = `${'x'.repeat(64 * 1024 - 1)} `
const messageOf = (bytes: number) => toMessage({ body: ASKED, nth: 1 }, { text: WORD.repeat(bytes / WORD.length) })
const EVENTS = toSse(toEvents(messageOf(24 * MB)))
const JSON_REPLY = JSON.stringify(messageOf(16 * MB))
const DRIP = { kind: 'hang', at: 'after-headers' } as const

/** Sends a request whose reply is not read. */
async function neverRead(
  { gateway }: Fixture,
  scenario: Scenario,
  { key, stream = true }: { key: string; stream?: boolean },
): Promise<RawClient> {
  const client = await connectRaw(gateway.port)
  const body = JSON.stringify(ask('tell me all', { stream }))
  const headers = Object.entries({
    ...scenario.headers,
    host: 'a',
    'x-api-key': key,
    'content-type': 'application/json',
    'content-length': body.length,
  })
  client.pause()
  client.write(
    `POST /v1/messages HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
  return client
}

test('stalled readers: one that takes nothing is cut, the provider’s call ends, and the produced output is settled', async (t) => {
  await using fixture = await openFixture({
    config: { server: { stall_timeout: '1s' } },
    env: { SVC_PIPELINE: 'cost-guard', SVC_COST_PER_DAY: '100' },
  })
  const scenario = fixture.scenario({ kind: 'sse', bytes: EVENTS })
  const client = await neverRead(fixture, scenario, { key: 'k' })
  await fixture.provider.until(() => scenario.seen().length === 1)
  t.is(await scenario.seen()[0]?.closed, 'client-left')
  client.resume()
  await client.closed
  t.true(client.receivedBytes() < EVENTS.length)
  const id = /x-svc-receipt: (\S+)/.exec(client.received())?.[1]
  const get = { method: 'GET', path: `/v1/receipts/${id}`, headers: { 'x-api-key': 'k' } }
  await eventually(async () => (await scenario.send(get)).status === 200, 'the receipt is written')
  t.true(Number(valueAt((await scenario.send(get)).json, 'cost.provider_usd')) > 0, (await scenario.send(get)).text)
})

test('stalled readers: a whole JSON reply that is not read is cut, too', async (t) => {
  await using fixture = await openFixture({ config: { server: { stall_timeout: '1s' } } })
  const scenario = fixture.scenario({ kind: 'reply', body: JSON_REPLY })
  const client = await neverRead(fixture, scenario, { key: 'k', stream: false })
  await eventually(() => /"delivered":false/.test(fixture.gateway.log()), 'the reply is given up')
  client.resume()
  await client.closed
  t.true(client.receivedBytes() < JSON_REPLY.length)
})

// Alone: nothing else may hold up the reader for as long as the time-out.
test.serial(
  'stalled readers: one that takes a little at a time gets all, and so does one whose provider is silent',
  async (t) => {
    await using fixture = await openFixture({ config: { server: { stall_timeout: '6s' } } })
    const silent = fixture
      .scenario({ kind: 'answer', text: 'at last', before: { delayMs: 7000 } })
      .send({ body: ask('think') })
    const scenario = fixture.scenario({ kind: 'reply', body: JSON_REPLY })
    const request = startRequest(`${fixture.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { ...scenario.headers, 'x-api-key': 'k', 'content-type': 'application/json' },
    })
    request.end(JSON.stringify(ask('tell me all')))
    const [reply] = (await once(request, 'response')) as [IncomingMessage]
    let received = 0
    // Longer altogether than the time-out, in steps that are much shorter, also on a busy machine.
    for (; !reply.readableEnded && !reply.destroyed; await sleep(25)) received += reply.read()?.length ?? 0
    t.is(received, Buffer.byteLength(JSON_REPLY))
    t.is((await silent).status, 200)
  },
)

test('stalled readers: those of one key leave connections to the provider for another', async (t) => {
  await using fixture = await openFixture({ config: { providers: { connections: 8 } } })
  const scenario = fixture.scenario({ kind: 'sse', bytes: EVENTS })
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => neverRead(fixture, scenario, { key: 'never-reads' })),
  )
  await fixture.provider.until(() => scenario.seen().length >= 6)
  for (let i = 0; i < 5; i++) t.is((await fixture.scenario().send({ body: ask(`hi ${i}`) })).status, 200)
  for (const client of clients) client.destroy()
})

test('stalled readers: sixty of several keys on a pool of eight give way to one that reads', async (t) => {
  // None is cut for its own stall: they give way.
  await using fixture = await openFixture({
    config: { providers: { connections: 8 }, server: { stall_timeout: '10m' } },
  })
  const scenario = fixture.scenario({ kind: 'sse', bytes: EVENTS })
  const clients = await Promise.all(
    Array.from({ length: 60 }, (_, index) => neverRead(fixture, scenario, { key: `never-reads-${index % 6}` })),
  )
  await fixture.provider.until(() => scenario.seen().length >= 8)
  for (let i = 0; i < 5; i++) t.is((await fixture.scenario().send({ body: ask(`hi ${i}`) })).status, 200)
  for (const client of clients) client.destroy()
  await eventually(async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => fixture.scenario().send({ body: ask('hi') })))
    return replies.every(({ status }) => status === 200)
  }, 'all connections are free')
})

test('stalled readers: one that takes nothing for a while gets all when no other waits', async (t) => {
  await using fixture = await openFixture({ config: { providers: { connections: 2 } } })
  const scenario = fixture.scenario({ kind: 'sse', bytes: EVENTS })
  const client = await neverRead(fixture, scenario, { key: 'k' })
  await fixture.provider.until(() => scenario.seen().length === 1)
  await sleep(3500) // longer than a reader has that another waits for
  t.is((await fixture.scenario().send({ body: ask('hi') })).status, 200)
  client.resume()
  await client.until('message_stop')
  t.true(client.receivedBytes() > EVENTS.length)
  client.destroy()
})

test('connections: a call that gets none within `first_byte` is 503 and names the provider, then all continues', async (t) => {
  await using fixture = await openFixture({ config: { providers: { connections: 1, timeouts: { first_byte: '1s' } } } })
  const scenario = fixture.scenario(DRIP)
  const leaving = new AbortController()
  const first = scenario.send({ body: ask('hi', { stream: true }), signal: leaving.signal })
  await fixture.provider.until(() => scenario.seen().length === 1)
  const other = fixture.scenario()
  const late = await other.send({ body: ask('hi') })
  t.is(late.status, 503)
  t.is(valueAt(late.json, 'error.type'), 'service_unavailable')
  t.regex(late.text, /provider anthropic/)
  t.is(late.headers['retry-after'], '1')
  t.is(other.seen().length, 0)
  leaving.abort()
  await first
  t.is((await other.send({ body: ask('hi') })).status, 200)
})

test('connections: calls that were left while they waited or ran give them back', async (t) => {
  await using fixture = await openFixture({ config: { providers: { connections: 2 } } })
  for (let round = 0; round < 5; round++) {
    const leaving = new AbortController()
    const scenario = fixture.scenario({ kind: 'hang', at: round % 2 === 0 ? 'before-headers' : 'after-headers' })
    const calls = Array.from({ length: 4 }, () =>
      scenario.send({ body: ask('hi', { stream: true }), signal: leaving.signal }),
    )
    await fixture.provider.until(() => scenario.seen().length === 2)
    leaving.abort()
    await Promise.all(calls)
  }
  t.is((await fixture.scenario().send({ body: ask('hi') })).status, 200)
})

test('connections: a model that leads to two providers is answered by the second when none to the first is free', async (t) => {
  await using fixture = await openProviderFixture({
    config: {
      providers: { connections: 1, timeouts: { first_byte: '1s' } },
      models: { either: ['claude-sonnet-4-5', 'openai/gpt-4o'] },
    },
  })
  const scenario = fixture.scenario({ anthropic: DRIP })
  const leaving = new AbortController()
  const first = scenario.send({ body: ask('hi', { stream: true }), signal: leaving.signal })
  await eventually(() => scenario.seen('anthropic').length === 1, 'the provider is asked')
  const reply = await fixture.scenario({}).send({ body: ask('hi', { model: 'either' }) })
  t.is(reply.status, 200)
  t.is(reply.headers['x-svc-model'], 'openai/gpt-4o')
  leaving.abort()
  await first
})

test('requests at once: a key has only so many, and gets a place when one of them ends', async (t) => {
  await using fixture = await openFixture({ config: { limits: { requests_at_once: 2 } } })
  const scenario = fixture.scenario(DRIP)
  const leaving = new AbortController()
  const running = [1, 2].map(() => scenario.send({ body: ask('hi', { stream: true }), signal: leaving.signal }))
  await fixture.provider.until(() => scenario.seen().length === 2)
  for (const path of ['/v1/messages', '/v1/messages/count_tokens', '/v1/chat/completions']) {
    const refused = await scenario.send({ path, body: ask('hi') })
    t.is(refused.status, 429)
    t.is(refused.headers['retry-after'], '1')
    t.regex(refused.text, /rate_limit_error/)
  }
  const other = fixture.scenario()
  t.is((await other.send({ body: ask('hi'), headers: { authorization: 'Bearer another' } })).status, 200)
  leaving.abort()
  await Promise.all(running)
  await eventually(async () => (await other.send({ body: ask('hi') })).status === 200, 'there is a place again')
  t.pass()
})

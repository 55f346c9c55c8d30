import test, { type ExecutionContext } from 'ava'
import { type AskOptions, eventually, stateOf, untilHandled } from '../support/cache-fixture.ts'
import { isDrill } from '../support/drill.ts'
import { assembleMessage, assertMessageStream, parseEvents } from '../support/events.ts'
import type { Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { type AnswerScript, holdEvent, type Script } from '../support/provider/script.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'

const BIG_ENTRY_BYTES = 16 * 1024 * 1024
const config = {
  providers: { tries: 1 },
  plugins: { 'exact-cache': { max_entry: `${BIG_ENTRY_BYTES}B` } },
}
const fixture = await startSharedFixture({ config })
test.after.always(() => fixture.close())

const TEXT = 'one two three four five six seven eight nine ten'
const EVENT_TO_HOLD = 5

/** Returns a reply that waits before its first byte until the gate opens. */
function held(gate: Promise<unknown>, script: Script = { kind: 'answer', text: TEXT }): Script {
  return { ...script, before: { until: gate } } as Script // safe: every scripted answer can wait
}

/** Returns a stream that waits in its middle until the gate opens. */
function heldMidway(gate: Promise<unknown>): AnswerScript {
  return { kind: 'answer', text: TEXT, writes: holdEvent(EVENT_TO_HOLD, gate) }
}

/** Sends a request, and reports when it has left and when the first `events` events of a stream have arrived. */
function start(prompt: string, options: AskOptions = {}) {
  const sent = Promise.withResolvers<void>()
  const headers = Promise.withResolvers<Reply['headers']>()
  const begun = Promise.withResolvers<string>()
  const leaving = new AbortController()
  let text = ''
  let hasBegun = false
  const reply = fixture.ask(prompt, {
    ...options,
    signal: leaving.signal,
    onSent: sent.resolve,
    onHeaders: (_status, received) => headers.resolve(received),
    onChunk: (chunk) => {
      if (hasBegun) return
      text += chunk
      hasBegun = parseEvents(text).length >= EVENT_TO_HOLD
      if (hasBegun) begun.resolve(text)
    },
  })
  reply.catch(() => {}) // a test that fails earlier does not look at it
  return { reply, sent: sent.promise, headers: headers.promise, begun: begun.promise, leave: () => leaving.abort() }
}

type Started = ReturnType<typeof start>

/** Starts a leader whose request is with the provider. */
async function lead(prompt: string, options: AskOptions = {}): Promise<Started> {
  const leader = start(prompt, options)
  await fixture.called(prompt)
  return leader
}

/** Sends the same from other callers; resolves when the gateway has attached all of them. */
async function follow(prompt: string, all: readonly AskOptions[]): Promise<Started[]> {
  const followers = all.map((options) => start(prompt, options))
  await Promise.all(followers.map(({ sent }) => sent))
  await untilHandled(fixture.gateway)
  return followers
}

async function leave({ leave: go, reply }: Started): Promise<void> {
  go()
  await reply
  await untilHandled(fixture.gateway)
}

function repliesOf(all: readonly Started[]): Promise<Reply[]> {
  return Promise.all(all.map(({ reply }) => reply))
}

function assertComplete(t: ExecutionContext, reply: Reply, text = TEXT): void {
  t.is(reply.status, 200)
  t.true(reply.endedCleanly)
  const isStream = String(reply.headers['content-type']).startsWith('text/event-stream')
  const message = isStream ? assembleMessage(assertMessageStream(reply.body)) : reply.json
  t.is(valueAt(message, 'content.0.text'), text)
}

/** Sets an answer behind a gate that the test opens, at the latest at its end. */
function gated(t: ExecutionContext, prompt: string, script: (gate: Promise<unknown>) => Script): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  t.teardown(resolve)
  fixture.script(prompt, (nth) => (nth === 1 ? script(promise) : { kind: 'answer', text: 'another answer' }))
  return resolve
}

/** Returns the events of a stream without pings, which a client gets by its own silences. */
const eventsOf = ({ body }: Reply) => parseEvents(body).filter(({ event }) => event !== 'ping')

const CALLERS = isDrill ? 50 : 16
const mixed = (count: number) => Array.from({ length: count }, (_, i) => ({ stream: i % 2 === 0 }))

for (const stream of [true, false]) {
  const mode = stream ? 'a stream' : 'JSON'
  test(`single flight: ${CALLERS} callers of both modes are one call whose leader asked for ${mode}`, async (t) => {
    const prompt = t.title
    const open = gated(t, prompt, held)
    const leader = await lead(prompt, { stream })
    const followers = await follow(prompt, mixed(CALLERS - 1))
    open()
    const replies = await repliesOf([leader, ...followers])
    t.is(fixture.calls(prompt), 1)
    t.deepEqual(replies.map(stateOf), ['miss', ...followers.map(() => 'attached')])
    for (const reply of replies) assertComplete(t, reply)
    t.is(new Set(replies.map(({ text }) => text)).size, 2)
  })
}

test('single flight: another question is not attached', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, held)
  const leader = await lead(prompt)
  const other = await fixture.ask(prompt, { extra: { temperature: 0.5 } })
  t.is(stateOf(other), 'miss')
  open()
  assertComplete(t, await leader.reply)
})

test('single flight: a caller that attaches in mid-stream gets the stream from its first byte, while it still runs', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, heldMidway)
  const leader = await lead(prompt, { stream: true })
  const soFar = await leader.begun
  const late = start(prompt, { stream: true })
  t.is((await late.headers)['x-svc-cache'], 'attached')
  t.is(await late.begun, soFar) // the gate is still closed
  open()
  const [first, second] = await repliesOf([leader, late])
  t.deepEqual(second?.body, first?.body)
  assertComplete(t, second!)
})

test('single flight: JSON asked in mid-stream is the message of the whole stream', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, heldMidway)
  const leader = await lead(prompt, { stream: true })
  await leader.begun
  const [follower] = await follow(prompt, [{}])
  open()
  const [stream, json] = await repliesOf([leader, follower!])
  t.is(stateOf(json!), 'attached')
  t.deepEqual(json?.json, assembleMessage(assertMessageStream(stream!.body)))
})

test('single flight: a stream asked while JSON runs has the id and the usage of the JSON', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, held)
  const leader = await lead(prompt)
  const [follower] = await follow(prompt, [{ stream: true }])
  open()
  const [json, stream] = await repliesOf([leader, follower!])
  t.deepEqual(assembleMessage(assertMessageStream(stream!.body)), json?.json)
})

for (const stream of [true, false]) {
  test(`single flight: a ${stream ? 'streaming' : 'JSON'} leader that disconnects before the reply leaves it to the others`, async (t) => {
    const prompt = t.title
    const open = gated(t, prompt, held)
    const leader = await lead(prompt, { stream })
    const followers = await follow(prompt, mixed(4))
    await leave(leader)
    open()
    for (const reply of await repliesOf(followers)) assertComplete(t, reply)
    t.is(stateOf(await fixture.ask(prompt)), 'hit')
    t.is(fixture.calls(prompt), 1)
  })
}

test('single flight: a leader that disconnects in mid-stream leaves it to the others, and it is stored', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, heldMidway)
  const leader = await lead(prompt, { stream: true })
  await leader.begun
  const followers = await follow(prompt, mixed(4))
  await leave(leader)
  open()
  for (const reply of await repliesOf(followers)) assertComplete(t, reply)
  t.is(stateOf(await fixture.ask(prompt)), 'hit')
  t.is(fixture.calls(prompt), 1)
})

test('single flight: one JSON caller is enough to keep a stream going that all its readers have left', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, heldMidway)
  const leader = await lead(prompt, { stream: true })
  await leader.begun
  const [json] = await follow(prompt, [{}])
  await leave(leader)
  open()
  assertComplete(t, await json!.reply)
})

test('single flight: a follower that disconnects changes nothing for the others', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, heldMidway)
  const leader = await lead(prompt, { stream: true })
  await leader.begun
  const followers = await follow(prompt, mixed(4))
  for (const follower of followers) await leave(follower)
  open()
  assertComplete(t, await leader.reply)
  t.is(stateOf(await fixture.ask(prompt)), 'hit')
})

for (const [moment, script] of [
  ['before the reply', held],
  ['in mid-stream', heldMidway],
] as const) {
  test(`single flight: when all leave ${moment}, the provider is stopped and nothing is stored`, async (t) => {
    const prompt = t.title
    gated(t, prompt, script)
    const leader = await lead(prompt, { stream: true })
    if (script === heldMidway) await leader.begun
    const callers = [leader, ...(await follow(prompt, mixed(4)))]
    const [upstream] = fixture.provider.seen.filter(({ raw }) => raw.includes(prompt))
    for (const caller of callers) {
      t.is(upstream?.ended, 'open')
      await leave(caller)
    }
    await t.notThrowsAsync(fixture.provider.until(() => upstream?.ended === 'client-left'))
    const next = await fixture.ask(prompt)
    t.is(stateOf(next), 'miss')
    assertComplete(t, next, 'another answer')
  })
}

const FAILURES: [claim: string, script: (gate: Promise<unknown>) => Script][] = [
  ['an overload', (gate) => held(gate, { kind: 'error', status: 529 })],
  ['a refusal', (gate) => held(gate, { kind: 'error', status: 400 })],
  ['a reset', (gate) => ({ kind: 'break', at: 'before-headers', before: { until: gate } })],
  ['headers that are cut', (gate) => ({ kind: 'break', at: 'mid-headers', before: { until: gate } })],
]

for (const [claim, script] of FAILURES) {
  test(`single flight: ${claim} is one failure for all, and the next request calls again`, async (t) => {
    const prompt = t.title
    const open = gated(t, prompt, script)
    const leader = await lead(prompt, { stream: true })
    const followers = await follow(prompt, mixed(10))
    open()
    const first = await leader.reply
    t.true(first.status >= 400)
    for (const { status, json } of await repliesOf(followers)) {
      t.is(status, first.status)
      t.deepEqual(valueAt(json, 'error'), valueAt(first.json, 'error'))
    }
    t.is(fixture.calls(prompt), 1)
    assertComplete(t, await fixture.ask(prompt), 'another answer')
  })
}

test('single flight: a stream that is cut ends alike for all, and nothing is stored', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, (gate) => ({ ...heldMidway(gate), cutAfterBytes: 1500 }))
  const leader = await lead(prompt, { stream: true })
  await leader.begun
  const followers = await follow(prompt, mixed(6))
  open()
  const first = await leader.reply
  const rest = await repliesOf(followers)
  t.is(parseEvents(first.body).at(-1)?.event, 'error')
  for (const [i, reply] of rest.entries()) {
    if (i % 2 === 0) t.deepEqual(eventsOf(reply), eventsOf(first))
    else t.like(reply, { status: 502, json: { error: { type: 'upstream_error' } } })
  }
  t.is(fixture.calls(prompt), 1)
  assertComplete(t, await fixture.ask(prompt), 'another answer')
})

test('single flight: an error event in the stream ends alike for all, and nothing is stored', async (t) => {
  const prompt = t.title
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const bytes = `event: message_start\ndata: {"type":"message_start","message":{}}\n\nevent: error\ndata: ${JSON.stringify(error)}\n\n`
  const open = gated(t, prompt, (gate) => held(gate, { kind: 'sse', bytes }))
  const leader = await lead(prompt, { stream: true })
  const followers = await follow(prompt, mixed(6))
  open()
  const first = await leader.reply
  const rest = await repliesOf(followers)
  t.is(first.text, bytes)
  for (const [i, reply] of rest.entries()) {
    if (i % 2 === 0) t.is(reply.text, bytes)
    else t.is(reply.status, 502)
  }
  assertComplete(t, await fixture.ask(prompt), 'another answer')
})

/** More than the kernel takes in for a reader that stopped. */
const LONG_TEXT = 'lorem ipsum '.repeat(1000)
const LONG_STREAM = longStream(800)

function longStream(deltas: number): Buffer {
  const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const usage = { input_tokens: 3, output_tokens: 1 }
  const message = { id: 'msg_long', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  const delta = { type: 'text_delta', text: LONG_TEXT }
  return Buffer.from(
    [
      event({ type: 'message_start', message: { ...message, stop_sequence: null, usage } } as { type: string }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
      event({ type: 'content_block_delta', index: 0, delta } as { type: string }).repeat(deltas),
      event({ type: 'content_block_stop', index: 0 } as { type: string }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string }),
      event({ type: 'message_stop' }),
    ].join(''),
  )
}

test('single flight: a reader that does not read holds no other back, neither as follower nor as leader', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, (gate) => ({ kind: 'sse', bytes: LONG_STREAM, writes: holdEvent(1, gate) }))
  const slow = await fixture.askUnread(prompt)
  const quick = start(prompt, { stream: true })
  t.is((await quick.headers)['x-svc-cache'], 'attached')
  const slowToo = await fixture.askUnread(prompt)
  open()
  t.is(Buffer.compare((await quick.reply).body, LONG_STREAM), 0)
  for (const reply of [slow, slowToo]) t.is(Buffer.compare(await reply.rest(), LONG_STREAM), 0)
  t.is(fixture.calls(prompt), 1)
})

test('single flight: a leader that does not read holds no JSON caller back', async (t) => {
  const prompt = t.title
  const open = gated(t, prompt, (gate) => ({ kind: 'sse', bytes: LONG_STREAM, writes: holdEvent(1, gate) }))
  const leader = await fixture.askUnread(prompt)
  const [json] = await follow(prompt, [{}])
  open()
  assertComplete(t, await json!.reply, LONG_TEXT.repeat(800))
  leader.leave()
})

test('single flight: callers whose stream cannot be converted to JSON make one more call together', async (t) => {
  const prompt = t.title
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'delta_of_tomorrow', text: 'x' } }
  const bytes = longStream(0)
    .toString()
    .replace(
      'event: content_block_stop',
      `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\nevent: content_block_stop`,
    )
  const open = gated(t, prompt, (gate) => held(gate, { kind: 'sse', bytes }))
  const leader = await lead(prompt, { stream: true })
  const followers = await follow(
    prompt,
    Array.from({ length: 10 }, () => ({})),
  )
  open()
  t.is((await leader.reply).text, bytes)
  const replies = await repliesOf(followers)
  for (const reply of replies) assertComplete(t, reply, 'another answer')
  t.is(fixture.calls(prompt), 2)
})

test('single flight: callers that come and go leave no socket and no file behind', async (t) => {
  const prompt = t.title
  const openFiles = () => process.getActiveResourcesInfo().length
  const round = async (i: number) => {
    const name = `${prompt} ${i}`
    gated(t, name, i % 2 === 0 ? held : heldMidway)
    const leader = await lead(name, { stream: true })
    for (const caller of [...(await follow(name, mixed(5))), leader]) await leave(caller)
  }
  await round(0)
  const before = openFiles()
  for (let i = 1; i <= 10; i++) await round(i)
  // Others in this file hold connections of their own meanwhile, but not ten times six.
  await eventually(
    async () => openFiles(),
    (count) => count <= before + 20,
  )
  t.pass()
})

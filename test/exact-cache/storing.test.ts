import test from 'ava'
import { type AskOptions, eventually, stateOf, untilHandled } from '../support/cache-fixture.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import type { Script } from '../support/provider/script.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'

const MAX_ENTRY_BYTES = 64 * 1024
const config = {
  providers: { tries: 1 },
  plugins: { 'exact-cache': { max_entry: `${MAX_ENTRY_BYTES}B`, max_memory: '1MB' } },
}
const fixture = await startSharedFixture({ config })
test.after.always(() => fixture.close())

// Serial, for the memory is small and shared.
const MESSAGE = toMessage(
  { body: { model: 'm', max_tokens: 100, messages: [] }, nth: 1 },
  { text: 'one two three four' },
)
const STREAM = toSse(toEvents(MESSAGE)).toString()
const ERROR = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
const withoutEnd = STREAM.slice(0, STREAM.indexOf('event: message_stop'))
const errorEvent = `event: error\ndata: ${JSON.stringify(ERROR)}\n\n`
const words = (bytes: number) => 'x'.repeat(bytes)

const NOT_STORED: [claim: string, options: AskOptions, script: Script][] = [
  ['a refusal', {}, { kind: 'error', status: 400 }],
  ['a refusal of a stream', { stream: true }, { kind: 'error', status: 404 }],
  ['a rate limit', {}, { kind: 'error', status: 429, headers: { 'retry-after': '60' } }],
  ['an overload', {}, { kind: 'error', status: 529 }],
  ['a stream that is cut', { stream: true }, { kind: 'sse', bytes: STREAM, cutAfterBytes: 500 }],
  [
    'a stream that is cut right before its end',
    { stream: true },
    { kind: 'sse', bytes: STREAM, cutAfterBytes: withoutEnd.length },
  ],
  ['a stream that ends early, but cleanly', { stream: true }, { kind: 'sse', bytes: withoutEnd }],
  ['a stream whose last event is unfinished', { stream: true }, { kind: 'sse', bytes: STREAM.slice(0, -1) }],
  ['a stream with an error event', { stream: true }, { kind: 'sse', bytes: withoutEnd + errorEvent }],
  ['a stream that continues after an error event', { stream: true }, { kind: 'sse', bytes: errorEvent + STREAM }],
  ['an empty stream', { stream: true }, { kind: 'sse', bytes: '' }],
  ['JSON that is cut', {}, { kind: 'reply', body: MESSAGE, cutAfterBytes: 100 }],
  ['JSON that is whole for HTTP, but not for JSON', {}, { kind: 'reply', body: JSON.stringify(MESSAGE).slice(0, -1) }],
  ['an error under the status of a success', {}, { kind: 'reply', body: ERROR }],
  ['a page', {}, { kind: 'reply', headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' }],
  ['nothing', {}, { kind: 'reply', body: '' }],
  ['a success that is not 200', {}, { kind: 'reply', status: 202, body: MESSAGE }],
  ['JSON above max_entry', {}, { kind: 'answer', text: words(MAX_ENTRY_BYTES) }],
  ['a stream above max_entry', { stream: true }, { kind: 'answer', text: words(MAX_ENTRY_BYTES) }],
]

for (const [claim, options, script] of NOT_STORED) {
  test.serial(`storing: ${claim} is not stored, in either mode`, async (t) => {
    const prompt = t.title
    fixture.script(prompt, (nth) => (nth <= 2 ? script : undefined))
    await fixture.ask(prompt, options)
    t.is(stateOf(await fixture.ask(prompt, options)), 'miss')
    const next = await fixture.ask(prompt, { stream: options.stream !== true })
    t.is(stateOf(next), 'miss')
    t.is(next.status, 200)
    t.is(fixture.calls(prompt), 3)
  })
}

for (const stream of [false, true]) {
  const mode = stream ? 'stream' : 'JSON'
  test.serial(`storing: a ${mode} reply above max_entry reaches its caller whole`, async (t) => {
    const prompt = t.title
    fixture.script(prompt, { kind: 'answer', text: words(5 * MAX_ENTRY_BYTES) })
    const reply = await fixture.ask(prompt, { stream })
    t.true(reply.endedCleanly)
    t.true(reply.body.length > 5 * MAX_ENTRY_BYTES)
    t.is(stateOf(reply), 'miss')
  })

  test.serial(`storing: a ${mode} reply up to max_entry is stored`, async (t) => {
    const prompt = t.title
    fixture.script(prompt, { kind: 'answer', text: words(MAX_ENTRY_BYTES - 4000) })
    await fixture.ask(prompt, { stream })
    t.is(stateOf(await fixture.ask(prompt, { stream })), 'hit')
  })
}

test.serial(
  'storing: callers that attached to a stream that outgrows max_entry make one more call together',
  async (t) => {
    const prompt = t.title
    const gate = Promise.withResolvers<void>()
    const text = `${words(2 * MAX_ENTRY_BYTES)} end`
    fixture.script(prompt, (nth) => ({ kind: 'answer', text, ...(nth === 1 && { before: { until: gate.promise } }) }))
    const leader = fixture.ask(prompt, { stream: true })
    await fixture.called(prompt)
    const followers = Array.from({ length: 10 }, () => {
      const { promise: sent, resolve: onSent } = Promise.withResolvers<void>()
      return { sent, reply: fixture.ask(prompt, { onSent }) }
    })
    await Promise.all(followers.map(({ sent }) => sent))
    await untilHandled(fixture.gateway)
    gate.resolve()
    t.is((await leader).status, 200)
    for (const { reply } of followers) t.like(await reply, { status: 200, json: { content: [{ text }] } })
    t.is(fixture.calls(prompt), 2)
  },
)

test.serial(
  'storing: a caller that could not attach to a stream beyond max_entry does not keep it alive',
  async (t) => {
    const prompt = t.title
    const [gate, never, sent] = [0, 1, 2].map(() => Promise.withResolvers<void>())
    t.teardown(() => never?.resolve())
    const content = [{ type: 'text', text: 'word '.repeat(2000) }] // an event for each word
    const gates = [undefined, gate, never]
    const between = (writesDone: number) => ({ until: gates[writesDone]?.promise ?? Promise.resolve() })
    const writes = { sizes: [1000, 2 * MAX_ENTRY_BYTES], between }
    fixture.script(prompt, (nth) => ({ kind: 'answer', content, ...(nth === 1 && { writes }) }))
    const leader = await fixture.askUnread(prompt)
    const attached = fixture.ask(prompt, { onSent: () => sent?.resolve() })
    await sent?.promise
    await untilHandled(fixture.gateway)
    t.is(fixture.calls(prompt), 1)
    gate?.resolve()
    t.is((await attached).status, 200)
    const [upstream] = fixture.provider.seen.filter(({ raw }) => raw.includes(prompt))
    t.is(upstream?.ended, 'open')
    leader.leave()
    await t.notThrowsAsync(fixture.provider.until(() => upstream?.ended === 'client-left'))
  },
)

test.serial('storing: no-store neither reads nor stores', async (t) => {
  const prompt = t.title
  const headers = { 'cache-control': 'no-store' }
  t.is(stateOf(await fixture.ask(prompt, { headers })), undefined)
  t.is(stateOf(await fixture.ask(prompt)), 'miss')
  t.is(stateOf(await fixture.ask(prompt, { headers })), undefined)
  t.is(fixture.calls(prompt), 3)
  t.is(stateOf(await fixture.ask(prompt)), 'hit')
})

test.serial('storing: no-cache does not read, but stores anew', async (t) => {
  const prompt = t.title
  fixture.script(prompt, (nth) => ({ kind: 'answer', text: `answer ${nth}` }))
  await fixture.ask(prompt)
  const headers = { 'cache-control': 'max-age=0, no-cache' }
  t.like(await fixture.ask(prompt, { headers }), {
    headers: { 'x-svc-cache': 'miss' },
    json: { content: [{ text: 'answer 2' }] },
  })
  t.like(await fixture.ask(prompt), { headers: { 'x-svc-cache': 'hit' }, json: { content: [{ text: 'answer 2' }] } })
})

test.serial('storing: cache-control is understood in any case', async (t) => {
  const prompt = t.title
  await fixture.ask(prompt)
  t.is(stateOf(await fixture.ask(prompt, { headers: { 'cache-control': 'No-Cache' } })), 'miss')
  t.is(stateOf(await fixture.ask(prompt, { headers: { 'cache-control': 'NO-STORE' } })), undefined)
})

test.serial('storing: a reply is given again until its ttl is over, however often it is asked for', async (t) => {
  const prompt = t.title
  const pipe = 'exact-cache?ttl=1s'
  await fixture.ask(prompt, { pipe })
  t.is(stateOf(await fixture.ask(prompt, { pipe })), 'hit')
  await eventually(
    async () => stateOf(await fixture.ask(prompt, { pipe })),
    (state) => state === 'miss',
  )
  t.is(fixture.calls(prompt), 2)
})

test.serial('storing: the ttl is that of the request that stored', async (t) => {
  const prompt = t.title
  await fixture.ask(prompt, { pipe: 'exact-cache?ttl=1s' })
  const pipe = 'exact-cache?ttl=30d'
  t.is(stateOf(await fixture.ask(prompt, { pipe })), 'hit')
  await eventually(
    async () => stateOf(await fixture.ask(prompt, { pipe })),
    (state) => state === 'miss',
  )
  t.is(stateOf(await fixture.ask(prompt, { pipe })), 'hit')
})

for (const ttl of ['0s', '31d', '5', 'soon']) {
  test.serial(`storing: ttl=${ttl} is refused by name`, async (t) => {
    const { status, text } = await fixture.ask(t.title, { pipe: `exact-cache?ttl=${ttl}` })
    t.is(status, 400)
    t.regex(text, /ttl/)
    t.is(fixture.calls(t.title), 0)
  })
}

for (const option of ['max_entry=1GB', 'max_memory=1GB', 'allow_shared=true']) {
  test.serial(`storing: a caller cannot set ${option}`, async (t) => {
    const { status, text } = await fixture.ask(t.title, { pipe: `exact-cache?${option}` })
    t.is(status, 400)
    t.regex(text, /cannot be set in a pipeline string/)
  })
}

test.serial('storing: memory is bounded, and the least recently used entry is evicted first', async (t) => {
  const prompts = Array.from({ length: 60 }, (_, i) => `${t.title} ${i}`)
  const [first, second] = [String(prompts[0]), String(prompts[1])]
  for (const prompt of prompts) {
    fixture.script(prompt, { kind: 'answer', text: words(50_000) })
    await fixture.ask(prompt)
    t.is(stateOf(await fixture.ask(first)), 'hit')
  }
  t.is(stateOf(await fixture.ask(String(prompts.at(-1)))), 'hit')
  t.is(stateOf(await fixture.ask(second)), 'miss')
})

test.serial('storing: a max_entry that no memory has room for is named in the log', async (t) => {
  const tight = await startSharedFixture({
    config: { plugins: { 'exact-cache': { max_entry: '2MB', max_memory: '1MB' } } },
  })
  t.teardown(tight.close)
  t.regex(tight.gateway.log(), /"max_entry":2097152,"max_memory":1048576.*max-entry-exceeds-max-memory/)
  t.notRegex(fixture.gateway.log(), /max-entry-exceeds/)
})

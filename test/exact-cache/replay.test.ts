import test, { type ExecutionContext } from 'ava'
import { type AskOptions, stateOf } from '../support/cache-fixture.ts'
import { assembleMessage, assertMessageStream, parseEvents } from '../support/events.ts'
import { startGateway } from '../support/gateway.ts'
import { type Reply, send } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import type { Script } from '../support/provider/script.ts'
import { loadRecordings, type Recording, toScript } from '../support/recordings.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const fixture = await startSharedFixture()
/** A gateway whose provider serves one recording after another. */
const provider = await startProvider({ acceptAnything: true })
const gateway = await startGateway({ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk-operator' })
test.after.always(() => Promise.all([fixture.close(), gateway.stop(), provider.close()]))

/** Stores a reply by a request in one mode, then repeats it in another. */
async function askTwice(t: ExecutionContext, [first, second]: [AskOptions, AskOptions], script: Script) {
  fixture.script(t.title, script)
  const [stored, replayed] = [await fixture.ask(t.title, first), await fixture.ask(t.title, second)]
  t.deepEqual([stateOf(stored), stateOf(replayed), fixture.calls(t.title)], ['miss', 'hit', 1])
  return { stored, replayed }
}

const STREAM = { stream: true }
const TOOL = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { place: 'Zürich', list: [1, { a: null }] } }
const ANSWER: Script = {
  kind: 'answer',
  content: [{ type: 'text', text: 'Let me look.\n\n日本語 👩‍🚀 "quoted"' }, TOOL],
}

/** Returns the stored part of a stream: all but the pings of the moment. */
function withoutPings({ text }: Reply): string {
  return text.replaceAll(/event: ping\ndata: *\{"type": ?"ping"\} *\n\n/g, '')
}

test('replay: JSON asked as JSON is the same bytes', async (t) => {
  const { stored, replayed } = await askTwice(t, [{}, {}], ANSWER)
  t.deepEqual(replayed.body, stored.body)
  t.regex(String(replayed.headers['content-type']), /^application\/json/)
})

test('replay: a stream asked as a stream is the same bytes but for pings', async (t) => {
  const { stored, replayed } = await askTwice(t, [STREAM, STREAM], ANSWER)
  t.is(replayed.text, withoutPings(stored))
  t.regex(String(replayed.headers['content-type']), /^text\/event-stream/)
})

test('replay: JSON asked as a stream is a legal stream of the same message', async (t) => {
  const { stored, replayed } = await askTwice(t, [{}, STREAM], ANSWER)
  t.deepEqual(assembleMessage(assertMessageStream(replayed.body)), stored.json)
})

test('replay: a stream asked as JSON is the same message', async (t) => {
  const { stored, replayed } = await askTwice(t, [STREAM, {}], ANSWER)
  t.deepEqual(replayed.json, assembleMessage(assertMessageStream(stored.body)))
})

test('replay: pings are of the moment: those of a provider are relayed, and not stored', async (t) => {
  const ping = 'event: ping\ndata: {"type": "ping"}\n\n'
  const bytes = begun().replaceAll('event: message_delta', `${ping}: note\n\n${ping}event: message_delta`)
  const { stored, replayed } = await askTwice(t, [STREAM, STREAM], { kind: 'sse', bytes })
  t.is(stored.text, bytes)
  t.is(replayed.text, begun())
})

test('replay: no pings are made up for a stream from JSON', async (t) => {
  const { replayed } = await askTwice(t, [{}, STREAM], ANSWER)
  t.deepEqual(
    parseEvents(replayed.body).filter(({ event }) => event === 'ping'),
    [],
  )
})

/** Builds a stream that continues an answer the provider has begun: its first block is in `message_start`. */
const begun = (rest: readonly JsonObject[] = []) => {
  const usage = { input_tokens: 5, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [TOOL],
    stop_reason: null,
    usage,
  }
  return [
    { type: 'message_start', message },
    ...rest,
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

test('replay: a stream whose message_start holds content keeps it as JSON', async (t) => {
  const { replayed } = await askTwice(t, [STREAM, {}], { kind: 'sse', bytes: begun() })
  t.deepEqual(valueAt(replayed.json, 'content'), [TOOL])
})

test('replay: blocks that follow the content of message_start come behind it', async (t) => {
  const block = { type: 'text', text: '' }
  const delta = { type: 'text_delta', text: 'Then this.' }
  const rest = [
    { type: 'content_block_start', index: 1, content_block: block },
    { type: 'content_block_delta', index: 1, delta },
    { type: 'content_block_stop', index: 1 },
  ]
  const { replayed } = await askTwice(t, [STREAM, {}], { kind: 'sse', bytes: begun(rest) })
  t.deepEqual(valueAt(replayed.json, 'content'), [TOOL, { type: 'text', text: 'Then this.' }])
})

test('replay: a stream is the same bytes however the provider cut them', async (t) => {
  const { stored, replayed } = await askTwice(t, [STREAM, STREAM], { ...ANSWER, writes: { sizes: [1, 7, 300] } })
  t.is(replayed.text, withoutPings(stored))
})

test('replay: a compressed stream is stored decoded', async (t) => {
  const { stored, replayed } = await askTwice(t, [STREAM, {}], { ...ANSWER, encoding: 'gzip' })
  t.deepEqual(replayed.json, assembleMessage(assertMessageStream(stored.body)))
})

test('replay: carries the request id of its own request', async (t) => {
  const { stored, replayed } = await askTwice(t, [{}, {}], ANSWER)
  t.truthy(replayed.headers['request-id'])
  t.not(replayed.headers['request-id'], stored.headers['request-id'])
})

const { items, absent } = loadRecordings()
const successes = items.filter(({ request, response }) => isMessagesCall(request.path) && response.status === 200)

function isMessagesCall(path: string): boolean {
  return path.split('?')[0] === '/v1/messages'
}

interface Asking {
  /** Each caller has a cache of its own. */
  as: string
  isStream: boolean
}

async function askRecorded({ request }: Recording, { as, isStream }: Asking): Promise<Reply> {
  const { stream: _, ...rest }: JsonObject = JSON.parse(String(request.body))
  const { 'x-api-key': _key, authorization: _credential, ...headers } = request.headers
  return send(gateway.url, {
    path: request.path,
    headers: { ...headers, authorization: `Bearer ${as}` },
    body: { ...rest, ...(isStream && { stream: true }) },
  })
}

function messageOf(reply: Reply): JsonObject {
  const isStream = String(reply.headers['content-type']).startsWith('text/event-stream')
  if (isStream) return assembleMessage(assertMessageStream(reply.body))
  if (!isJsonObject(reply.json)) throw new Error(`Expected a message, got ${reply.text.slice(0, 200)}`)
  return reply.json
}

const COMPARED = ['id', 'type', 'role', 'content', 'stop_reason', 'stop_sequence']

test('replay: there are recordings to replay', (t) => {
  if (absent) t.log(absent)
  t.true(absent !== undefined || successes.length >= 25, `${successes.length} recordings`)
})

for (const recording of successes) {
  const { name, response } = recording
  const { isStream } = response
  const as = `caller of ${name}`.replaceAll(/[^a-z0-9]/gi, '-')

  test.serial(
    `replay: recording ${name} comes back in its own mode as its bytes, in the other as the same message`,
    async (t) => {
      provider.reply(toScript(response))
      const live = await askRecorded(recording, { as, isStream })
      t.is(stateOf(live), 'miss')
      t.deepEqual(live.body, response.bytes)
      provider.reply({ kind: 'error', status: 500 })
      const again = await askRecorded(recording, { as, isStream })
      t.is(stateOf(again), 'hit')
      t.is(again.text, withoutPings(live))
      const other = await askRecorded(recording, { as, isStream: !isStream })
      t.is(stateOf(other), 'hit')
      const [original, replayed] = [messageOf(live), messageOf(other)]
      for (const field of COMPARED) t.deepEqual(replayed[field], original[field], field)
      t.deepEqual(replayed.usage, original.usage)
      t.is(replayed.model, servedModel(original))
    },
  )

  test.serial(`replay: recording ${name} streams, from JSON, in the shapes of a live stream`, async (t) => {
    provider.reply(toScript(response))
    const first = await askRecorded(recording, { as: `${as}-1`, isStream })
    if (!isStream) provider.reply(undefined)
    // The form of a live JSON reply is stored anew as JSON, and streamed.
    const json = isStream ? await askRecorded(recording, { as: `${as}-1`, isStream: false }) : first
    provider.reply({ kind: 'reply', body: json.body })
    await askRecorded(recording, { as: `${as}-2`, isStream: false })
    const replayed = await askRecorded(recording, { as: `${as}-2`, isStream: true })
    t.is(stateOf(replayed), 'hit')
    assertMessageStream(replayed.body)
    // The payloads of `v` recordings were printed anew, some of them with their keys sorted.
    const keysOf = name.startsWith('v') ? sortedKeys : Object.keys
    if (isStream) t.deepEqual(shapesOf(replayed.body, keysOf), shapesOf(first.body, keysOf))
    t.notRegex(replayed.text, /event: ping/)
  })
}

/** Returns the last model that served a message; a stream names it in a block of its own. */
function servedModel(message: JsonObject): unknown {
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : []
  const fallback = blocks.findLast((block) => valueAt(block, 'type') === 'fallback')
  return valueAt(fallback, 'to.model') ?? message.model
}

type KeysOf = (value: JsonObject) => string[]

function sortedKeys(value: JsonObject): string[] {
  return Object.keys(value).sort()
}

/** Returns the types and keys of the events, in order; runs of equal deltas count once. */
function shapesOf(stream: Buffer, keysOf: KeysOf): string[] {
  const shapes = parseEvents(stream)
    .filter(({ event }) => event !== 'ping')
    .map(({ event, data }) => `${event} ${shapeOf(data, keysOf)}`)
  return shapes.filter((shape, i) => shape !== shapes[i - 1])
}

/** Returns the keys of an event and of its members. */
function shapeOf(data: unknown, keysOf: KeysOf): string {
  const parts = ['delta', 'content_block', 'message', 'message.usage', 'usage']
  const keys = (value: unknown) => (isJsonObject(value) ? keysOf(value).join(',') : '')
  return [keys(data), ...parts.map((part) => `${part}(${keys(valueAt(data, part))})`)].join(' ')
}

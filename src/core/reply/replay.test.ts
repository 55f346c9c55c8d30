import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { ScanError } from '../json/scan.ts'
import { messageOfStream } from './message-of-stream.ts'
import { printEvent, scanEvents } from './sse.ts'
import { streamOfMessage } from './stream-of-message.ts'

// biome-ignore lint/suspicious/noExplicitAny: events and messages of many shapes are looked into, and wrong ones fail the test
type Json = any

function eventsOf(stream: Buffer): Json[] {
  const events: Json[] = []
  scanEvents(stream, (name, source, start, end) => {
    const event = JSON.parse(source.toString('utf8', start, end))
    if (name !== event.type) throw new Error(`event ${name} with type ${event.type}`)
    events.push(event)
  })
  return events
}

function streamOf(...events: { type: string }[]): Buffer {
  return Buffer.from(events.map(printEvent).join(''))
}

function holds<T>(t: ExecutionContext, property: fc.IRawProperty<T>): void {
  t.notThrows(() => fc.assert(property, { numRuns: 500 }))
}

// ---- generated messages, in the order of keys that live replies have

const words = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
  fc
    .array(
      fc.constantFrom('word', 'and', '\n\n', '"quoted"', 'back\\slash', '日本語', '👩‍🚀', '\u0000', 'x'.repeat(90)),
    )
    .map((parts) => parts.join(' ')),
)
const rawNumber = fc.constantFrom('1.0', '9007199254740993', '-0', '1e400', '0.1000')
const rawText = words.map((text) => JSON.stringify(text))
const rawInput = fc.oneof(
  fc.constantFrom('{}', '{ }', '{"b":1,"a":2,"1":3}', '{"nested": {"list": [1.0, 2]}}'),
  fc.tuple(rawText, rawNumber, rawText).map(([key, number, value]) => `{${key}: ${number}, "text":${value}}`),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify({ value })),
)
const rawCitations = fc
  .array(fc.tuple(rawText, rawNumber), { maxLength: 3 })
  .map((list) => `[${list.map(([text, number]) => `{"type":"page_location","cited_text":${text},"page":${number}}`)}]`)
const caller = fc.constantFrom(
  '',
  ',"caller":{"type":"direct"}',
  ',"caller":{"type":"code_execution_20260120","tool_id":"s"}',
)
const rawBlock = fc.oneof(
  rawText.map((text) => `{"type":"text","text":${text}}`),
  fc.tuple(rawCitations, rawText).map(([list, text]) => `{"citations":${list},"type":"text","text":${text}}`),
  fc.tuple(rawText, rawText).map((raw) => `{"type":"thinking","thinking":${raw[0]},"signature":${raw[1]}}`),
  rawText.map((data) => `{"type":"redacted_thinking","data":${data}}`),
  fc
    .tuple(fc.constantFrom('tool_use', 'server_tool_use', 'mcp_tool_use'), rawInput, caller)
    .map(([type, input, by]) => `{"type":"${type}","id":"t","name":"n","input":${input}${by}}`),
  rawInput.map((content) => `{"type":"web_search_tool_result","tool_use_id":"t","content":[${content}]}`),
  rawText.map((content) => `{"type":"compaction","content":${content},"encrypted_content":null}`),
  rawNumber.map((number) => `{"type":"of_tomorrow","text":"whole","count":${number}}`),
)
const optional = (member: string) => fc.constantFrom('', member)
const rawMessage = fc
  .record({
    blocks: fc.array(rawBlock, { maxLength: 5 }),
    container: fc.constantFrom('', '"container":{"id":"c","expires_at":"2026-04-24T11:13:36Z"},', '"container":null,'),
    details: fc.constantFrom('', '"stop_details":null,', '"stop_details":{"category":"cyber"},'),
    lifetimes: optional('"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},'),
    outputTokens: fc.nat(),
    tier: optional(',"service_tier":"standard"'),
    serverTools: optional(',"server_tool_use":{"web_search_requests":1}'),
    future: optional(',"diagnostics":{"cache":1.0}'),
    edits: fc.constantFrom('', ',"context_management":{"applied_edits":[]}', ',"context_management":null'),
  })
  .map((given) =>
    [
      `{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[${given.blocks}],${given.container}`,
      `"stop_reason":"end_turn","stop_sequence":null,${given.details}"usage":{"input_tokens":3,${given.lifetimes}`,
      `"output_tokens":${given.outputTokens}${given.tier}${given.serverTools}}${given.future}${given.edits}}`,
    ].join(''),
  )

/** Escapes every character of the JSON outside ASCII, as some servers do. */
function escaped(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

test('replay: a message comes back from its stream byte for byte', (t) => {
  holds(
    t,
    fc.property(rawMessage, fc.boolean(), (message, isEscaped) => {
      const json = isEscaped ? escaped(message) : message
      t.is(messageOfStream(streamOfMessage(json))?.toString(), json)
    }),
  )
})

test('replay: keys outside ASCII come back', (t) => {
  const json = '{"content":[{"type":"text","text":"a","clé":1.0}],"日本":null,"usage":{"👍":2}}'
  t.is(messageOfStream(streamOfMessage(json))?.toString(), json)
})

test('replay: a pretty-printed message comes back with the same values', (t) => {
  holds(
    t,
    fc.property(rawMessage, (message) => {
      const value: Json = JSON.parse(message)
      const pretty = `\n${JSON.stringify(value, null, 2)}\r\n`.replaceAll(/\n/g, '\r\n')
      t.deepEqual(JSON.parse(String(messageOfStream(streamOfMessage(Buffer.from(pretty))))), JSON.parse(pretty))
    }),
  )
})

const WHOLE_ESCAPES = /^(?:[^\\]|\\u[0-9a-f]{4}|\\[^u])*$/i

test('streamOfMessage: no chunk starts or ends inside a surrogate pair or an escape', (t) => {
  holds(
    t,
    fc.property(rawMessage, fc.boolean(), (message, isEscaped) => {
      for (const { delta } of eventsOf(streamOfMessage(isEscaped ? escaped(message) : message))) {
        const piece: string = delta?.text ?? delta?.thinking ?? delta?.partial_json ?? ''
        if (!piece.isWellFormed()) throw new Error(`cut surrogate pair: ${piece}`)
        if (delta?.partial_json !== undefined && !WHOLE_ESCAPES.test(piece)) throw new Error(`cut escape: ${piece}`)
        if (/\\ud[89ab]..$|^\\ud[c-f]../i.test(delta?.partial_json ?? '')) throw new Error(`cut pair: ${piece}`)
      }
    }),
  )
})

test('streamOfMessage: a grapheme is never cut', (t) => {
  const parts = fc.constantFrom('a', '漢', 'é', '👩‍🚀', '🇨🇭', '👍🏽', '1️⃣', '❤️‍🔥', '👨‍👩‍👧‍👦')
  const segmenter = new Intl.Segmenter()
  holds(
    t,
    fc.property(fc.array(parts, { minLength: 50, maxLength: 200 }), (list) => {
      const text = list.join('')
      const boundaries = new Set(Array.from(segmenter.segment(text), ({ index }) => index))
      let at = 0
      for (const { delta } of eventsOf(streamOfMessage(JSON.stringify({ content: [{ type: 'text', text }] })))) {
        if (!boundaries.has(at) && at < text.length) throw new Error(`cut at ${at} of ${text}`)
        at += delta?.text?.length ?? 0
      }
      return at === text.length
    }),
  )
})

test('streamOfMessage: text without a space is cut into short chunks, too, escaped or not', (t) => {
  for (const unit of ['x', 'é', '日', '👍🏽']) {
    const json = JSON.stringify({ content: [{ type: 'text', text: unit.repeat(400) }] })
    for (const printed of [json, escaped(json)]) {
      const lengths = eventsOf(streamOfMessage(printed)).map((event) => event.delta?.text?.length ?? 0)
      t.true(Math.max(...lengths) <= Math.max(60, 20 * unit.length), `${unit}: ${lengths}`)
    }
  }
})

// ---- shapes of single events

const message = {
  model: 'm',
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'text', text: 'I look it up in the big book of the weather.' },
    { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 40, service_tier: 'standard' },
}

test('streamOfMessage: text is cut before spaces, a tool without input has one empty chunk, there is no ping', (t) => {
  const at = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
  const { content: _, stop_reason, stop_sequence, usage, ...head } = message
  t.deepEqual(eventsOf(streamOfMessage(JSON.stringify(message))), [
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    at(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    at(0, { type: 'signature_delta', signature: 'c2ln' }),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    at(1, { type: 'text_delta', text: 'I look it up' }),
    at(1, { type: 'text_delta', text: ' in the big book' }),
    at(1, { type: 'text_delta', text: ' of the weather.' }),
    { type: 'content_block_stop', index: 1 },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {} },
    },
    at(2, { type: 'input_json_delta', partial_json: '' }),
    { type: 'content_block_stop', index: 2 },
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 40 },
    },
    { type: 'message_stop' },
  ])
})

test('streamOfMessage: members that a live stream has only at its end are not in message_start', (t) => {
  const container = { id: 'c' }
  const edits = { applied_edits: [] }
  const details = { output_tokens_details: { thinking_tokens: 3 }, server_tool_use: { web_search_requests: 1 } }
  const late = { ...message, container, usage: { ...message.usage, ...details }, context_management: edits }
  const events = eventsOf(streamOfMessage(JSON.stringify(late)))
  t.deepEqual(events[0], eventsOf(streamOfMessage(JSON.stringify(message)))[0])
  const end = events.at(-2)
  t.deepEqual(end.delta.container, container)
  t.like(end.usage, details)
  t.deepEqual(end.context_management, edits)
})

test('streamOfMessage: a tool call by the provider’s code execution is whole', (t) => {
  const block = {
    type: 'server_tool_use',
    input: { url: 'u' },
    caller: { type: 'code_execution_20260120', tool_id: 's' },
  }
  const events = eventsOf(streamOfMessage(JSON.stringify({ ...message, content: [block] })))
  t.deepEqual(events[1].content_block, block)
  t.is(events[2].type, 'content_block_stop')
})

for (const wrong of ['', '[]', '"text"', '{"content":{}}', '{"content":[1]}', '{"content":[]']) {
  test(`streamOfMessage: ${JSON.stringify(wrong)} is refused`, (t) => {
    t.throws(() => streamOfMessage(wrong), { instanceOf: ScanError })
  })
}

// ---- streams into messages

const start = { type: 'message_start', message: { ...message, content: [], stop_reason: null } }
const stop = { type: 'message_stop' }
const open = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block })
const delta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: change })

test('messageOfStream: a stream without event lines is understood by its types', (t) => {
  const events = [start, open(0, { type: 'text', text: 'a' }), delta(0, { type: 'text_delta', text: 'b' }), stop]
  const stream = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  t.deepEqual(JSON.parse(String(messageOfStream(stream))).content, [{ type: 'text', text: 'ab' }])
})

test('messageOfStream: events and blocks of unknown kinds pass', (t) => {
  const block = { type: 'of_tomorrow', list: [1] }
  const stream = streamOf(start, { type: 'news' }, open(0, block), { type: 'content_block_stop' }, stop)
  t.deepEqual(JSON.parse(String(messageOfStream(stream))).content, [block])
})

test('messageOfStream: members of message_delta are merged, null keeps, and usage counts are final', (t) => {
  const end = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null, container: { id: 'c' } },
    usage: { input_tokens: null, output_tokens: 77, server_tool_use: { web_search_requests: 1 } },
    context_management: { applied_edits: [] },
  }
  const result: Json = JSON.parse(String(messageOfStream(streamOf(start, end, stop))))
  t.is(result.stop_reason, 'end_turn')
  t.deepEqual(result.context_management, { applied_edits: [] })
  t.deepEqual(result.usage, { ...message.usage, output_tokens: 77, server_tool_use: { web_search_requests: 1 } })
  t.is(Object.keys(result)[Object.keys(result).indexOf('content') + 1], 'container')
})

test('messageOfStream: tool input is put together raw, and citations one by one', (t) => {
  const stream = streamOf(
    start,
    open(0, { type: 'tool_use', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '' }),
    delta(0, { type: 'input_json_delta', partial_json: '{"a": 1' }),
    delta(0, { type: 'input_json_delta', partial_json: '.0, "é": "\\ud83d' }),
    delta(0, { type: 'input_json_delta', partial_json: '\\ude00"}' }),
    open(1, { citations: [{ n: '[,' }], type: 'text', text: '' }),
    delta(1, { type: 'citations_delta', citation: { n: 2 } }),
    stop,
  )
  const json = String(messageOfStream(stream))
  t.true(json.includes('"input":{"a": 1.0, "é": "\\ud83d\\ude00"}'))
  t.true(json.includes('"citations":[{"n":"[,"},{"n":2}]'))
})

test('messageOfStream: a fallback block names the model that served', (t) => {
  const block = { type: 'fallback', from: { model: 'm' }, to: { model: 'n' } }
  const json = messageOfStream(streamOf(start, open(0, block), stop))
  t.is(JSON.parse(String(json)).model, 'n')
  t.is(eventsOf(streamOfMessage(json ?? ''))[0].message.model, 'm')
})

const tool = open(0, { type: 'tool_use', input: {} })
const text = open(0, { type: 'text', text: '' })
const notConvertible = {
  'without message_stop': streamOf(start, text),
  'without message_start': streamOf(text, stop),
  'with an error event': streamOf(start, { type: 'error' }, stop),
  'with a delta of an unknown kind': streamOf(start, text, delta(0, { type: 'odour_delta' }), stop),
  'with a delta that does not fit its block': streamOf(start, tool, delta(0, { type: 'text_delta', text: 'a' }), stop),
  'with a delta without its block': streamOf(start, delta(0, { type: 'text_delta', text: 'a' }), stop),
  'with blocks out of order': streamOf(start, open(1, { type: 'text', text: '' }), stop),
  'with a tool input that was cut': streamOf(
    start,
    tool,
    delta(0, { type: 'input_json_delta', partial_json: '{"a' }),
    stop,
  ),
  'with an input that would break out': streamOf(
    start,
    tool,
    delta(0, { type: 'input_json_delta', partial_json: '{},"name":"other"' }),
    stop,
  ),
  'with broken data': Buffer.concat([
    streamOf(start),
    Buffer.from('event: content_block_start\ndata: {"a\n\n'),
    streamOf(stop),
  ]),
  'with a broken string': Buffer.concat([
    streamOf(start, text),
    Buffer.from('data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\x"}}\n\n'),
    streamOf(stop),
  ]),
  'that is empty': Buffer.alloc(0),
}
for (const [what, stream] of Object.entries(notConvertible)) {
  test(`messageOfStream: a stream ${what} is not converted`, (t) => {
    t.is(messageOfStream(stream), undefined)
  })
}

// ---- recordings of the provider

const data = process.env.TURNPIKE_DATA ?? join(import.meta.dirname, '../../../../shared/data')
const folder = join(data, 'recordings')

interface Recorded {
  readonly name: string
  readonly json?: string
  readonly stream?: Buffer
}

/** Reads messages and streams of the provider's recordings; `v` files keep events without their framing. */
function recordings(): Recorded[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[av].*\.json$/.test(name)) : []
  return names.flatMap((name): Recorded[] => {
    const { interactions = [], events, body }: Json = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    const found: Recorded[] = []
    for (const { response } of interactions) {
      if (response.sse !== undefined) found.push({ name, stream: Buffer.from(response.sse) })
      else if (response.body?.type === 'message') found.push({ name, json: JSON.stringify(response.body) })
    }
    if (events !== undefined) found.push({ name, stream: streamOf(...events) })
    if (body !== undefined) found.push({ name, json: JSON.stringify(body) })
    return found
  })
}

/** A recording of another server than the provider's own has its own order of keys. */
const OWN_ORDER = new Set(['v12-message-delta-input-tokens.json'])

/** Returns the shapes of a stream's events: type, keys in order, and those of their members; pings are left out. */
function shapesOf(stream: Buffer, name: string): string[] {
  const shapeOf = (part: Json) => {
    const keys = Object.keys(part ?? {})
    return [part?.type, OWN_ORDER.has(name) ? keys.sort() : keys]
  }
  const shapes = eventsOf(stream)
    .filter(({ type }) => type !== 'ping')
    .map((event) =>
      [event, event.message, event.message?.usage, event.content_block, event.delta, event.usage].map(shapeOf),
    )
  return [...new Set(shapes.map((shape) => JSON.stringify(shape)))].sort()
}

/** Returns the kinds of events in order, with repeated deltas as one and without pings, whose times vary. */
function sequenceOf(stream: Buffer): string[] {
  const steps = eventsOf(stream).filter(({ type }) => type !== 'ping')
  const kinds = steps.map(({ type, index, delta }) => `${type} ${index} ${delta?.type}`)
  return kinds.filter((kind, i) => kind !== kinds[i - 1])
}

function recorded(t: ExecutionContext, kind: 'json' | 'stream'): Recorded[] {
  const found = recordings().filter((recording) => recording[kind] !== undefined)
  if (found.length === 0) t.log(`no recordings in ${folder}: nothing compared`)
  return found
}

test('replay: every recorded message comes back from its stream', (t) => {
  for (const { name, json = '' } of recorded(t, 'json')) {
    t.deepEqual(JSON.parse(String(messageOfStream(streamOfMessage(json)))), JSON.parse(json), name)
  }
  t.pass()
})

test('replay: a recorded stream, made a message and a stream again, has the same shapes of events in the same order', (t) => {
  for (const { name, stream = Buffer.alloc(0) } of recorded(t, 'stream')) {
    const replayed = streamOfMessage(messageOfStream(stream) ?? '')
    t.deepEqual(shapesOf(replayed, name), shapesOf(stream, name), name)
    t.deepEqual(sequenceOf(replayed), sequenceOf(stream), name)
  }
  t.pass()
})

test('messageOfStream: a recorded stream gives the message that its deltas spell', (t) => {
  for (const { name, stream = Buffer.alloc(0) } of recorded(t, 'stream')) {
    const events = eventsOf(stream)
    const result: Json = JSON.parse(String(messageOfStream(stream)))
    const end = events.find(({ type }) => type === 'message_delta')
    t.like(result, end.delta, name)
    t.like(result.usage, end.usage, name)
    for (const [index, block] of result.content.entries()) {
      const spelled = (field: string) =>
        events
          .filter((event) => event.index === index)
          .map((event) => event.delta?.[field] ?? '')
          .join('')
      if (block.type === 'text') t.is(block.text, spelled('text'), name)
      if (block.type === 'thinking')
        t.is(block.thinking + block.signature, spelled('thinking') + spelled('signature'), name)
      const input = spelled('partial_json')
      if (input !== '') t.deepEqual(block.input, JSON.parse(input), name)
    }
  }
  t.pass()
})

import test from 'ava'
import fc from 'fast-check'
import { assertMessageStream, parseEvents } from '../../../test/support/events.ts'
import { type JsonObject, valueAt } from '../../../test/support/json.ts'
import { messageOfStream } from '../../core/reply/message-of-stream.ts'
import { BytesReply } from '../../core/reply/reply.ts'
import { streamOfMessage } from '../../core/reply/stream-of-message.ts'
import { RequestDocument } from '../../core/request/request.ts'
import type { ChatHabits } from '../chat/to-chat-request.ts'
import { createResponsesDialect } from './dialect.ts'
import { createMessagesEvents } from './reply/to-messages-events.ts'
import { toMessagesReply } from './reply/to-messages-reply.ts'
import { toResponsesRequest } from './to-responses-request.ts'

const dialect = createResponsesDialect({ defaultMaxTokens: 1000, modelNamed: (name) => name, nowMs: () => 0 })
const TOOLS = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'patch' },
  {
    type: 'namespace',
    name: 'ns',
    tools: [
      { type: 'function', name: 'g' },
      { type: 'custom', name: 'p' },
    ],
  },
]

const written = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => /\S/.test(text))
/** JSON texts that parsing and printing would change. */
const exact = fc.constantFrom('{}', '{"n":1.0,"10":{"b":-0},"2":"\\u00e9"}', '{"big": 9007199254740993}', '{"a":[ ]}')
const custom = written.map((input) => JSON.stringify({ input }))
const ids = fc.stringMatching(/^toolu_[A-Za-z0-9]{4,20}$/)

const use = (name: string, inputs: fc.Arbitrary<string>) =>
  fc.tuple(ids, inputs).map(([id, input]) => `{"type":"tool_use","id":"${id}","name":"${name}","input":${input}}`)
const json = (value: object) => JSON.stringify(value)
const block = fc.oneof(
  written.map((text) => json({ type: 'text', text })),
  fc
    .tuple(written, fc.constantFrom('', 'c2lnbmVk'))
    .map(([thinking, signature]) => json({ type: 'thinking', thinking, signature })),
  fc.constant(json({ type: 'thinking', thinking: '', signature: 'c2ln' })),
  written.map((data) => json({ type: 'redacted_thinking', data })),
  use('f', exact),
  use('ns__g', exact),
  use('patch', custom),
  use('ns__p', custom),
)

test('responses: a reply that comes back as input is the same message, block for block and byte for byte', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 8 }), (blocks) => {
        const message = `{"id":"msg_1","model":"m","content":[${blocks.join(',')}],"stop_reason":"end_turn","usage":{"output_tokens":1}}`
        const first = dialect.parse(Buffer.from(json({ model: 'm', input: 'hi', tools: TOOLS })))
        const response = JSON.parse(String(dialect.render(new BytesReply(200, {}, Buffer.from(message)), first).bytes))
        const input = [{ role: 'user', content: 'hi' }, ...response.output, { role: 'user', content: 'on' }]
        const { canonical, droppedFields } = dialect.parse(Buffer.from(json({ model: 'm', input, tools: TOOLS })))
        t.deepEqual(droppedFields.dropped, [])
        t.deepEqual(droppedFields.refused, [])
        const content = canonical.rawAt(['messages', 1, 'content'])?.toString()
        const [only] = blocks.map((block): JsonObject => JSON.parse(block))
        const isText = blocks.length === 1 && only?.type === 'text'
        t.is(content, isText ? json(valueAt(only, 'text') as object) : `[${blocks.join(',')}]`)
      }),
    ),
  )
})

const reply = fc.record({ text: fc.string({ unit: 'grapheme' }), inputs: fc.array(exact, { maxLength: 3 }) })

/** Builds a message that a response can represent whole: text, then calls. */
function messageOf({ text, inputs }: { text: string; inputs: string[] }): string {
  const content = [
    ...(text === '' ? [] : [json({ type: 'text', text })]),
    ...inputs.map((input, index) => `{"type":"tool_use","id":"t${index}","name":"f","input":${input}}`),
  ]
  const usage = '{"input_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":1,"output_tokens":4}'
  const reason = inputs.length > 0 ? 'tool_use' : 'end_turn'
  return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${content.join(',')}],"stop_reason":"${reason}","stop_sequence":null,"usage":${usage}}`
}

test('responses: a message comes back from a response with the same content, usage and end, as JSON and as a stream', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(reply.map(messageOf), (message) => {
        const client = dialect.parse(Buffer.from(json({ model: 'm', input: 'hi' })))
        const response = dialect.render(new BytesReply(200, {}, Buffer.from(message)), client).bytes
        const expected = JSON.parse(message)
        const whole = JSON.parse(String(toMessagesReply(response, { model: 'm', id: 'x' })))
        const translator = dialect.createTranslator(client)
        const back = createMessagesEvents({ model: 'm', id: 'x' })
        const events = parseEvents(streamOfMessage(message)).map(({ event, text }) => translator.event(event, text))
        const stream = parseEvents(events.join('')).map(({ event, text }) => back.event(event, text))
        t.notThrows(() => assertMessageStream(stream.join('')))
        const streamed = JSON.parse(String(messageOfStream(Buffer.from(stream.join('')))))
        for (const found of [whole, streamed]) {
          t.deepEqual(found.content, expected.content)
          t.is(found.stop_reason, expected.stop_reason)
          t.like(found.usage, expected.usage)
        }
      }),
    ),
  )
})

const names = fc.oneof(
  fc.constantFrom('a', 'b', 'b__c', 'a__b', 'a__b__c', 'read file', 'read_file', 'läs', 'x'.repeat(64), 'x'.repeat(90)),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
)
const plain = fc.record({ type: fc.constantFrom('function', 'custom'), name: names })
const space = fc.record({
  type: fc.constant('namespace'),
  name: names,
  tools: fc.uniqueArray(plain, { selector: ({ name }) => name, maxLength: 4 }),
})
const offers = fc
  .tuple(
    fc.uniqueArray(plain, { selector: ({ name }) => name, minLength: 1, maxLength: 6 }),
    fc.uniqueArray(space, { selector: ({ name }) => name, maxLength: 4 }),
  )
  .map(([tools, spaces]) => [...spaces, ...tools])

test('responses: tools of any names have valid names of their own, and calls of them have the client’s', (t) => {
  fc.assert(
    fc.property(offers, (tools) => {
      const first = dialect.parse(Buffer.from(json({ model: 'm', input: 'hi', tools })))
      const flat = (first.canonical.field('tools') as { name: string }[]).map(({ name }) => name)
      t.is(new Set(flat).size, flat.length)
      for (const name of flat) t.regex(name, /^[A-Za-z0-9_-]{1,64}$/)
      const uses = flat.map((name, index) => ({ type: 'tool_use', id: `toolu_${index}`, name, input: { input: 'x' } }))
      const message = { id: 'msg_1', model: 'm', content: uses, stop_reason: 'tool_use', usage: { output_tokens: 1 } }
      const { bytes } = dialect.render(new BytesReply(200, {}, Buffer.from(json(message))), first)
      const { output } = JSON.parse(String(bytes))
      const wanted = tools.flatMap((tool) =>
        'tools' in tool ? tool.tools.map((one) => ({ ...one, namespace: tool.name })) : [tool],
      )
      const got = (output as JsonObject[]).map(({ type, name, namespace }) => ({
        type: type === 'custom_tool_call' ? 'custom' : 'function',
        name,
        ...(namespace !== undefined && { namespace }),
      }))
      t.deepEqual<unknown, unknown>(got, wanted)
      const again = dialect.parse(
        Buffer.from(json({ model: 'm', input: [{ role: 'user', content: 'hi' }, ...output], tools })),
      )
      const sent = again.canonical.field('messages') as { content: JsonObject[] }[]
      t.deepEqual<unknown, unknown>(
        sent[1]?.content.map(({ name }) => name),
        flat,
      )
    }),
    { numRuns: 60 },
  )
})

const HABITS: ChatHabits = {
  maxTokensField: 'max_completion_tokens',
  systemRole: 'developer',
  reasoningField: undefined,
  reasoningEffort: false,
  fixedSampling: undefined,
  mostStopSequences: 4,
  streamUsage: true,
}
const text = written.map((words) => ({ type: 'text', text: words }))
const image = fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } })
const spoken = fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 3 })
const called = fc.array(fc.tuple(exact, fc.oneof(written, fc.array(text, { minLength: 2, maxLength: 3 }))), {
  minLength: 1,
  maxLength: 3,
})
const turn = fc.record({ says: fc.option(written), calls: called, after: fc.option(spoken) })
const asked = fc.record(
  {
    system: written,
    temperature: fc.constantFrom(0, 0.5, 1),
    top_p: fc.constantFrom(0.1, 0.9),
    stream: fc.constant(true),
    tool_choice: fc.constantFrom<JsonObject>(
      { type: 'auto' },
      { type: 'any' },
      { type: 'tool', name: 'f' },
      { type: 'none' },
    ),
  },
  { requiredKeys: [] },
)
const conversation = fc.record({ asked, first: spoken, turns: fc.array(turn, { maxLength: 3 }) })
type Conversation = typeof conversation extends fc.Arbitrary<infer Value> ? Value : never

/** Builds a Messages request whose fields Responses has too. */
function requestOf({ asked, first, turns }: Conversation): string {
  const tools = [
    { name: 'f', description: 'Does it.', input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
  ]
  const messages = [json({ role: 'user', content: first })]
  for (const [index, { says, calls, after }] of turns.entries()) {
    const id = (nth: number) => `toolu_${index}${nth}`
    const uses = calls.map(([input], nth) => `{"type":"tool_use","id":"${id(nth)}","name":"f","input":${input}}`)
    const begun = says === null ? [] : [json({ type: 'text', text: says })]
    messages.push(`{"role":"assistant","content":[${[...begun, ...uses].join(',')}]}`)
    const results = calls.map(([, content], nth) => ({ type: 'tool_result', tool_use_id: id(nth), content }))
    messages.push(json({ role: 'user', content: [...results, ...(after ?? [])] }))
  }
  const fields = json({ model: 'm', max_tokens: 500, ...asked, tools })
  return `${fields.slice(0, -1)},"messages":[${messages.join(',')}]}`
}

/** Reads content as blocks: a text alone and a list of one are equal. */
function readRequest(bytes: Buffer): JsonObject {
  const request = JSON.parse(String(bytes))
  for (const message of request.messages)
    if (typeof message.content === 'string') message.content = [{ type: 'text', text: message.content }]
  return request
}

test('responses: a Messages request that goes through Responses is the same request', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(conversation, (one) => {
        const bytes = Buffer.from(requestOf(one))
        const sent = toResponsesRequest(new RequestDocument(bytes), { model: 'm', habits: HABITS, assumed: [] })
        const { canonical, droppedFields } = dialect.parse(sent.bytes)
        t.deepEqual([sent.droppedFields.dropped, droppedFields.dropped], [[], []])
        t.deepEqual(readRequest(canonical.bytes), readRequest(bytes))
        const inputs = (of: Buffer) => [...String(of).matchAll(/"input":(\{.*?\})\}/g)].map(([, input]) => input)
        t.deepEqual(inputs(canonical.bytes), inputs(bytes), 'inputs of tools keep their text')
      }),
    ),
  )
})

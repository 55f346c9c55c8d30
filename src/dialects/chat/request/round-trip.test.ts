import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { chatOf, messagesOf, OPENAI } from '../../../../test/support/chat-translation.ts'
import { isJsonObject, type JsonObject, valueAt } from '../../../../test/support/json.ts'
import { loadChats } from '../../../../test/support/openai/recorded-chats.ts'
import { loadRecordings } from '../../../../test/support/recordings.ts'
import { brokenRequests, jsonObjects, requests } from '../../../../test/support/request-bodies.ts'
import { GatewayError } from '../../../core/errors.ts'
import { JsonPrinter } from '../../../core/json/json-printer.ts'
import { messageRequestSchema } from '../../../core/request/message.ts'
import { RequestDocument } from '../../../core/request/request.ts'
import { RawInputs } from './raw-inputs.ts'

type Block = JsonObject & { type: string }
type Turn = { role: string; content: string | Block[] }

const words = fc.string({ unit: 'grapheme', maxLength: 12 }).map((rest) => `x${rest}`)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const id = fc.constantFrom('a', 'b', 'c')
const textBlock = words.map((text): Block => ({ type: 'text', text }))
const image = fc
  .constantFrom<JsonObject>(
    { type: 'url', url: 'https://x/y' },
    { type: 'base64', media_type: 'image/png', data: 'AAAA' },
  )
  .map((source): Block => ({ type: 'image', source }))
const pdf = words.map((title): Block => {
  return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title }
})
const result = fc.record({
  type: fc.constant('tool_result'),
  tool_use_id: id,
  content: fc.oneof(words, fc.array(textBlock, { minLength: 1, maxLength: 3 })),
})
const toolUse = fc.record({
  type: fc.constant('tool_use'),
  id,
  name: words,
  input: fc.dictionary(words, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
})
const blocksOf = (...kinds: fc.Arbitrary<Block>[]) => fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 4 })
const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant('user'), content: fc.oneof(words, blocksOf(textBlock, image, pdf, result)) }),
    fc.record({ role: fc.constant('assistant'), content: fc.oneof(words, blocksOf(textBlock, toolUse)) }),
  ),
  { minLength: 1, maxLength: 6 },
)

/** Requests that both shapes can represent fully. */
const shared = fc.record({
  model: fc.constant('m'),
  max_tokens: fc.integer({ min: 1, max: 2 ** 31 }),
  messages: turns,
  system: optional(fc.oneof(words, fc.array(textBlock, { minLength: 1, maxLength: 3 }))),
  tools: optional(
    fc.array(fc.record({ name: words, input_schema: fc.constant({ type: 'object', properties: {} }) }), {
      minLength: 1,
      maxLength: 2,
    }),
  ),
  temperature: optional(fc.double({ min: 0, max: 2, noNaN: true }).map((number) => number + 0)), // + 0: JSON has no -0
  stop_sequences: optional(fc.array(words, { minLength: 1, maxLength: 3 })),
  stream: optional(fc.constant(true)),
  metadata: optional(words.map((user_id) => ({ user_id }))),
})

const textOf = (content: string | readonly Block[], gap: string) =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join(gap)
const toBlocks = (content: string | Block[]): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** Normalises a user's turn: its results first, and each with its content as one text. */
function canonicalUser(blocks: readonly Block[]): Block[] {
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const texts = results.map((block) => ({ ...block, content: textOf(block.content as string | Block[], '\n') }))
  return [...texts, ...blocks.filter(({ type }) => type !== 'tool_result')]
}

/** Normalises an assistant's turn: its text in one block, before its calls. */
function canonicalAssistant(blocks: readonly Block[]): Block[] {
  const text = textOf(
    blocks.filter(({ type }) => type === 'text'),
    '',
  )
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...blocks.filter(({ type }) => type === 'tool_use')]
}

/** Normalises a request: everything in blocks, consecutive user turns as one, the system as one text. */
function canonical({ messages, system, ...rest }: JsonObject): JsonObject {
  const merged: { role: string; content: Block[] }[] = []
  for (const { role, content } of messages as Turn[]) {
    const last = merged.at(-1)
    if (role === 'user' && last?.role === 'user') last.content.push(...toBlocks(content))
    else merged.push({ role, content: [...toBlocks(content)] })
  }
  const turns = merged.map(({ role, content }) => {
    return { role, content: role === 'user' ? canonicalUser(content) : canonicalAssistant(content) }
  })
  return { ...rest, system: system && textOf(system as string | Block[], '\n\n'), messages: turns }
}

const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value))

test('round trip: everything that both shapes can represent survives', (t) => {
  fc.assert(
    fc.property(shared, (request) => {
      const there = chatOf(plain(request))
      const back = messagesOf(there.text)
      t.deepEqual([there.dropped, there.refused, back.dropped, back.refused], [[], [], [], []])
      t.deepEqual(plain(canonical(back.body)), plain(canonical(plain(request))))
    }),
    { numRuns: 300 },
  )
})

const NASTY = [
  '{"a":1.0}',
  '{"a":9007199254740993}',
  '{"10":1,"2":2}',
  '{"a":"\\u00e9\\ud83d\\ude00\\"}"}',
  '{"a":"\\\\"}',
]

test('round trip: tool inputs keep their exact text', (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...NASTY), jsonObjects), { minLength: 1, maxLength: 4 }), (texts) => {
      const printer = new JsonPrinter()
      const content = texts.map((json) => ({ type: 'tool_use', id: 'a', name: 'f', input: printer.raw(json) }))
      const request = { model: 'm', max_tokens: 1, messages: [{ role: 'assistant', content }] }
      const exact = texts.map((json) => json.replace(/^[ \n\r\t]+|[ \n\r\t]+$/g, ''))
      const there = chatOf(printer.print(request))
      const calls = valueAt(there.body, 'messages.0.tool_calls') as { function: { arguments: string } }[]
      t.deepEqual(
        calls.map((call) => call.function.arguments),
        exact,
      )
      t.deepEqual(new RawInputs(new RequestDocument(Buffer.from(messagesOf(there.text).text))).of(0), exact)
    }),
  )
})

/** Values that chat bodies have in the wrong places. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, '', [], {}, 0, -1, 'auto', 'function', [null], { toString: 5, valueOf: 5 }),
)
const anyPart = fc.oneof(
  junk,
  fc.record(
    {
      type: fc.oneof(fc.constantFrom('text', 'image_url', 'file', 'refusal', 'input_audio'), junk),
      text: fc.oneof(words, junk),
      image_url: fc.oneof(fc.record({ url: fc.oneof(fc.constant('data:image/png;base64,A'), words, junk) }), junk),
      file: fc.oneof(fc.record({ file_data: fc.oneof(words, junk), filename: junk }), junk),
    },
    { requiredKeys: [] },
  ),
)
const anyCall = fc.oneof(
  junk,
  fc.record({ id: fc.oneof(id, junk), function: fc.record({ name: words, arguments: fc.oneof(jsonObjects, junk) }) }),
)
const anyMessage = fc.oneof(
  junk,
  fc.record(
    {
      role: fc.oneof(fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function'), junk),
      content: fc.oneof(words, fc.array(anyPart, { maxLength: 3 }), junk),
      tool_calls: fc.oneof(fc.array(anyCall, { maxLength: 2 }), junk),
      tool_call_id: fc.oneof(id, junk),
      name: fc.oneof(words, junk),
      function_call: junk,
      refusal: junk,
    },
    { requiredKeys: ['role', 'content'] },
  ),
)
const anyChat = fc.record(
  {
    model: fc.oneof(fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-7', 'gpt-5'), junk),
    messages: fc.oneof(fc.array(anyMessage, { maxLength: 4 }), junk),
    tools: fc.oneof(
      fc.array(fc.oneof(fc.record({ function: fc.record({ name: words, parameters: junk }) }), junk)),
      junk,
    ),
    tool_choice: junk,
    max_tokens: junk,
    reasoning_effort: fc.oneof(fc.constantFrom('low', 'none'), junk),
    reasoning: junk,
    thinking: junk,
    response_format: fc.oneof(fc.record({ type: fc.constant('json_schema'), json_schema: junk }), junk),
    stop: junk,
    temperature: junk,
    logit_bias: junk,
    user: junk,
  },
  { requiredKeys: ['model', 'messages'] },
)

test('chat request: any body is translated or refused as an invalid request', (t) => {
  const bodies = fc.oneof(anyChat, requests, brokenRequests, fc.dictionary(words, fc.jsonValue()))
  let translated = 0
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        messagesOf(body)
        translated++
      } catch (error) {
        if (!(error instanceof GatewayError && error.code === 'invalid_request')) throw error
        t.true(error.message.length > 0)
      }
    }),
    { numRuns: 1000 },
  )
  t.true(translated > 20, `${translated} translated`)
})

test('to chat: any valid request is translated, and every lost field is named', (t) => {
  fc.assert(
    fc.property(requests, (request) => {
      const { dropped, refused } = chatOf(plain(request), { habits: OPENAI })
      t.true([...dropped, ...refused].every((line) => /^[\w.[\]()]+(:|$)|^…$/.test(line)))
    }),
  )
})

test('chat request: recorded requests to OpenAI become valid Messages requests', (t) => {
  const { items, absent } = loadChats()
  if (absent) t.log(absent)
  const refused = items.flatMap(({ name, body }) =>
    messagesOf(body).refused.map((line) => `${name} ${line.split(':')[0]}`),
  )
  t.deepEqual(refused, absent ? [] : ['o07-error-400#1 web_search_options'])
})

/** Loads recorded Messages requests: those with replies, and those of clients. */
function recordedRequests(): { items: { name: string; body: JsonObject }[]; absent?: string } {
  const { items, absent } = loadRecordings()
  if (absent) return { items: [], absent }
  const replied = items.map(({ name, request }) => ({ name, body: JSON.parse(request.body.toString()) }))
  return { items: [...replied, ...clientRequests()] }
}

function clientRequests(): { name: string; body: JsonObject }[] {
  const root = path.resolve(import.meta.dirname, '../../../..')
  const folder = path.resolve(root, process.env.TURNPIKE_DATA ?? '../shared/data', 'clients')
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const exchanges: { body: unknown }[] = JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
    return exchanges.flatMap(({ body }, index) => (isJsonObject(body) ? [{ name: `${name}#${index}`, body }] : []))
  })
}

test('to chat: recorded Messages requests become chat requests, or are refused by a field', (t) => {
  const { items, absent } = recordedRequests()
  if (absent) t.log(absent)
  const valid = items.filter(({ body }) => messageRequestSchema.safeParse(body).success)
  let carried = 0
  for (const { name, body } of valid) {
    if (body.thread !== undefined) {
      t.throws(() => chatOf(body), { message: /^thread: / }, name)
      continue
    }
    const { refused, body: chat } = chatOf(body)
    for (const line of refused) t.regex(line, /^[a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*: /, name)
    if (refused.length > 0) continue
    carried++
    t.notThrows(() => messagesOf(chat), name)
  }
  t.true(absent !== undefined || carried > 20, `${carried} of ${valid.length}`)
})

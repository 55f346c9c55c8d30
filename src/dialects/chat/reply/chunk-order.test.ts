import test from 'ava'
import fc from 'fast-check'
import { assembleMessage, assertMessageStream, parseEvents } from '../../../../test/support/events.ts'
import { createMessagesEvents } from './to-messages-events.ts'

// biome-ignore lint/suspicious/noExplicitAny: reads messages of many shapes, and a wrong one fails the test
type Json = any

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'served' }
const chunk = (delta: object, choice: object = {}) => ({ ...head, choices: [{ index: 0, delta, ...choice }] })
const begin = (index: number, text: string) =>
  chunk({ tool_calls: [{ index, id: `call_${index}`, function: { name: `tool_${index}`, arguments: text } }] })
const goOn = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })
const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const DONE = '[DONE]'

function translate(...data: unknown[]) {
  const translator = createMessagesEvents({ model: 'asked', id: 'msg_fallback' })
  const give = (item: unknown) => translator.event('message', typeof item === 'string' ? item : JSON.stringify(item))
  const stream = data.map(give).join('') + translator.end()
  return { translator, stream }
}

/** Joins the pieces of each tool's input, in the order of the tools. */
function inputsOf(stream: string): string[] {
  const inputs: string[] = []
  const events: Json[] = parseEvents(stream)
  for (const { data } of events) {
    if (data.content_block?.type === 'tool_use') inputs.push('')
    if (data.delta?.type === 'input_json_delta') inputs.push(inputs.pop() + data.delta.partial_json)
  }
  return inputs
}

const args = fc.dictionary(fc.string(), fc.jsonValue()).map((input) => JSON.stringify(input))
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('call'), which: fc.nat(3), length: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('content', 'reasoning'),
      text: fc.string({ minLength: 1 }),
    }),
  },
)

test('messages events: calls interleaved in any way reassemble exactly, and so does the text between them', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(args, { minLength: 1, maxLength: 4 }), fc.array(step, { maxLength: 40 }), (texts, plan) => {
        const { data, order, said } = interleave(texts, plan)
        const { stream, translator } = translate(...data, chunk({}, { finish_reason: 'tool_calls' }), DONE)
        t.true(translator.isComplete)
        const message: Json = assembleMessage(assertMessageStream(stream))
        t.deepEqual(
          inputsOf(stream).map((text) => text || '{}'),
          order.map((which) => texts[which]),
        )
        const prose = (type: string) =>
          message.content.map((block: Json) => (block.type === type && block[type]) || '').join('')
        t.is(prose('text'), said.content)
        t.is(prose('thinking'), said.reasoning)
      }),
    ),
  )
})

/** Returns chunks that interleave calls with these arguments as planned; the rest comes at the end. */
function interleave(texts: readonly string[], plan: readonly Json[]) {
  const at = new Map<number, number>()
  const data: unknown[] = []
  const said: Record<string, string> = { content: '', reasoning: '' }
  const write = (which: number, length: number) => {
    const from = at.get(which)
    const piece = texts[which]?.slice(from ?? 0, (from ?? 0) + length) ?? ''
    data.push(from === undefined ? begin(which, piece) : goOn(which, piece))
    at.set(which, (from ?? 0) + piece.length)
  }
  for (const turn of plan) {
    if (turn.kind === 'call') write(turn.which % texts.length, turn.length)
    else {
      said[turn.kind] += turn.text
      data.push(chunk({ [turn.kind]: turn.text }))
    }
  }
  for (const which of texts.keys()) write(which, Number.POSITIVE_INFINITY)
  return { data, order: [...at.keys()], said }
}

const piece = fc.record(
  {
    index: fc.constantFrom(0, 1, 2, undefined, 'x'),
    id: fc.constantFrom('a', 'b', '', null),
    function: fc.record(
      {
        name: fc.constantFrom('f', 'g', null),
        arguments: fc.constantFrom('', '{', '}', '{}', '"a":1', ' ', 'null', 'x', {}, 7),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const delta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(fc.string(), fc.jsonValue()),
    reasoning: fc.oneof(fc.string(), fc.jsonValue()),
    refusal: fc.constantFrom(null, '', 'No.'),
    tool_calls: fc.oneof(fc.array(piece, { maxLength: 3 }), fc.jsonValue()),
    function_call: fc.oneof(fc.constant(undefined), fc.jsonValue()),
  },
  { requiredKeys: [] },
)
const anyChunk = fc.oneof(
  fc.record(
    {
      id: fc.constantFrom('x', '', 3),
      choices: fc.array(
        fc.record({
          index: fc.constantFrom(0, 1),
          delta,
          finish_reason: fc.constantFrom(null, 'stop', 'tool_calls', 'y'),
        }),
        { maxLength: 2 },
      ),
      usage: fc.oneof(fc.constant(null), fc.constant(usage), fc.jsonValue()),
    },
    { requiredKeys: ['choices'] },
  ),
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.constantFrom(DONE, 'x') },
)

test('messages events: any chunks in any order give a valid stream, an error or an incomplete one', (t) => {
  const ends = { complete: 0, failed: 0, open: 0 }
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 30 }), (data) => {
        const { translator, stream } = translate(...data)
        if (translator.isComplete) assertValid(stream)
        else t.false(stream.includes('message_stop'))
        ends[translator.isComplete ? 'complete' : translator.hasFailed ? 'failed' : 'open']++
      }),
      { numRuns: 1000, seed: 1 },
    ),
  )
  t.true(Math.min(...Object.values(ends)) > 0, JSON.stringify(ends))
})

/** Asserts all rules but one: input that a model cut short is passed on unchanged, as by the Messages API itself. */
function assertValid(stream: string): void {
  const events: Json[] = parseEvents(stream)
  assertMessageStream(events.filter(({ data }) => data.delta?.type !== 'input_json_delta'))
}

import test from 'ava'
import fc from 'fast-check'
import { isDrill } from '../../../../test/support/drill.ts'
import { assertResponseStream } from '../../../../test/support/response-rules.ts'
import { toResponse, toSse } from '../../../../test/support/responses/answer.ts'
import type { EventTranslator } from '../../../core/reply/event-translator.ts'
import { StreamReply } from '../../../core/reply/reply.ts'
import { EventFramer, scanEvents } from '../../../core/reply/sse.ts'
import { createMessagesEvents as createEventsOfGemini } from '../../../providers/gemini/stream.ts'
import { createMessagesEvents as createEventsOfChat } from '../../chat/reply/to-messages-events.ts'
import { createStreamRenderer } from '../../render.ts'
import { createResponsesDialect } from '../dialect.ts'
import { RESPONSES_REPLIES } from '../replies.ts'
import { createMessagesEvents as createEventsOfResponse } from './to-messages-events.ts'

/*
 * DESIGN. Streams of every kind of provider, cut at any byte, sent to a Responses client. Those of Messages are tested beside
 * `to-response-events.ts`, event for event.
 *
 *   chat chunks, Gemini pieces, Responses events ──cut──► canonical events ──► events of a response ──► the order of §Streaming
 *                                Responses events ──cut──► relayed as they are, and the end added ─────►
 */

const dialect = createResponsesDialect({ defaultMaxTokens: 1000, modelNamed: (name) => name, nowMs: () => 0 })
const TOOLS = [
  { type: 'function', name: 'weather' },
  { type: 'custom', name: 'apply_patch' },
  { type: 'namespace', name: 'files', tools: [{ type: 'function', name: 'read' }] },
]
const REQUEST = Buffer.from(JSON.stringify({ model: 'm', input: 'hi', tools: TOOLS, stream: true }))
const NAMED = { model: 'm', id: 'msg_1' }
const nothing = { start() {}, pause() {}, resume() {}, cancel() {} }
const KEEP_ALIVE = ': keep-alive\n\n'

const indexes = fc.constantFrom(0, 1, 2, undefined)
const names = fc.constantFrom('weather', 'apply_patch', 'files__read', 'unknown', '', undefined)
const words = fc.oneof(fc.constantFrom('', ' ', undefined), fc.string({ unit: 'grapheme' }))
const pieces = fc.constantFrom('', '{', '{"input":', '"a\\nb"', '}', '[', 'x', undefined)
const junk = fc.constantFrom<unknown>(null, 5, 'text', [], {}, true)

const called = fc.record({
  index: indexes,
  id: words,
  type: fc.constantFrom('function', undefined),
  function: fc.oneof(
    { weight: 9, arbitrary: fc.record({ name: names, arguments: pieces }) },
    { weight: 1, arbitrary: junk },
  ),
})
const chunk = fc.record({
  id: fc.constantFrom('chatcmpl-1', undefined),
  choices: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.array(
        fc.record({
          index: fc.constantFrom(0, 0, 0, 1),
          delta: fc.record({
            content: words,
            reasoning_content: words,
            refusal: fc.constantFrom(undefined, undefined, 'no'),
            tool_calls: fc.oneof(fc.constant(undefined), fc.array(called, { maxLength: 2 })),
          }),
          finish_reason: fc.constantFrom(null, null, null, 'stop', 'length', 'tool_calls', 'content_filter'),
        }),
        { maxLength: 2 },
      ),
    },
    { weight: 1, arbitrary: junk },
  ),
  usage: fc.constantFrom(undefined, { prompt_tokens: 3, completion_tokens: 4 }),
  error: fc.constantFrom(...Array(20).fill(undefined), { message: 'Overloaded' }),
})
const part = fc.oneof(
  fc.record({
    text: words,
    thought: fc.constantFrom(undefined, true),
    thoughtSignature: fc.constantFrom(undefined, 'c2ln'),
  }),
  fc.record({ functionCall: fc.record({ name: names, args: fc.constantFrom({}, { input: 'x' }, 5, undefined) }) }),
  junk,
)
const gemini = fc.record({
  candidates: fc.array(
    fc.record({
      content: fc.oneof(fc.record({ parts: fc.array(part, { maxLength: 3 }) }), fc.constant(undefined)),
      finishReason: fc.constantFrom(undefined, undefined, 'STOP', 'MAX_TOKENS', 'SAFETY', 'MALFORMED_FUNCTION_CALL'),
    }),
    { maxLength: 1 },
  ),
  usageMetadata: fc.constantFrom(undefined, { promptTokenCount: 3, candidatesTokenCount: 4 }),
})
const reply = fc.record({
  text: fc.string({ unit: 'grapheme' }),
  reasoning: fc.constantFrom(undefined, 'Hm.'),
  toolCalls: fc.array(
    fc.record({ name: fc.constantFrom('weather', 'apply_patch'), arguments: fc.constantFrom('{}', '{"a":1}') }),
    {
      maxLength: 3,
    },
  ),
  finishReason: fc.constantFrom(undefined, 'length'),
})

/** Prints events without names, with keep-alives of the provider between some. */
function unnamed(events: readonly (readonly [event: unknown, isAfterPause: boolean])[], end = ''): Buffer {
  const texts = events.map(
    ([event, isAfterPause]) => `${isAfterPause ? KEEP_ALIVE : ''}data: ${JSON.stringify(event)}\n\n`,
  )
  return Buffer.from(texts.join('') + end)
}

const paused = <Event>(event: fc.Arbitrary<Event>) => fc.array(fc.tuple(event, fc.boolean()), { maxLength: 12 })
const chatStreams = fc
  .tuple(paused(chunk), fc.constantFrom('', 'data: [DONE]\n\n'))
  .map(([events, end]) => unnamed(events, end))
const geminiStreams = paused(gemini).map((events) => unnamed(events))
const responseStreams = fc
  .tuple(reply, fc.boolean(), fc.constantFrom('', KEEP_ALIVE))
  .map(([script, isInterleaved, pause]) => {
    const body = { model: 'm', input: 'hi', tools: TOOLS }
    const events = toSse(
      toResponse({ body, nth: 1 }, { kind: 'answer', ...definedIn(script) }),
      isInterleaved,
    ).toString()
    return Buffer.from(events.replaceAll('\n\n', `\n\n${pause}`))
  })

function definedIn<Record extends object>(
  record: Record,
): { [Name in keyof Record]: Exclude<Record[Name], undefined> } {
  // Safe: only members that are undefined are left out.
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
}

/** Sends a provider's stream, in chunks and up to a cut, to a Responses client. */
function send(bytes: Buffer, cuts: readonly number[], translator: EventTranslator | undefined): string {
  const source = { status: 200, headers: {}, ...(translator === undefined && { dialect: RESPONSES_REPLIES }) }
  const renderer = createStreamRenderer(new StreamReply(source, nothing), { dialect, request: dialect.parse(REQUEST) })
  const framer = new EventFramer()
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other)]
  let sent = ''
  for (const [nth, place] of places.slice(1).entries()) {
    const portion = framer.push(bytes.subarray(places[nth], place))
    if (portion === undefined) continue
    sent += renderer.portion(translator === undefined ? portion : Buffer.from(translated(portion, translator)))
  }
  if (translator !== undefined && (translator.isComplete || translator.hasFailed)) return sent
  const isWhole = translator === undefined && /event: response\.(completed|incomplete)\n[^\n]+\n\n/.test(sent)
  return sent + (isWhole ? 'data: [DONE]\n\n' : renderer.breakOff('it was cut'))
}

function translated(portion: Buffer, translator: EventTranslator): string {
  let text = ''
  scanEvents(portion, (name, source, start, end) => {
    text += translator.event(name, source.toString('utf8', start, end))
  })
  return text
}

for (const [kind, streams, create] of [
  ['chat', chatStreams, () => createEventsOfChat(NAMED)],
  ['Gemini', geminiStreams, () => createEventsOfGemini(NAMED)],
  ['Responses, rewritten', responseStreams, () => createEventsOfResponse(NAMED)],
  ['Responses, relayed', responseStreams, () => undefined],
] as const) {
  test(`responses stream: whatever a provider of ${kind} sends, and wherever it is cut, its events are in order`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(streams, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), (bytes, cuts) => {
          assertResponseStream(send(bytes, cuts, create()), { isRelayed: kind === 'Responses, relayed' })
        }),
        { numRuns: isDrill ? 2000 : 100 },
      ),
    )
  })
}

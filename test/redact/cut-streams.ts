import { parseEvents } from '../support/events.ts'
import { toPieces } from '../support/gemini/answers.ts'
import { toSse as toGeminiSse } from '../support/gemini/payload.ts'
import { call } from '../support/gemini/script.ts'
import type { JsonObject } from '../support/json.ts'
import { toChatSse, toChunks } from '../support/openai/chunks.ts'
import { toCompletion } from '../support/openai/completion.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import type { ProviderName } from '../support/provider-fixture.ts'
import { toResponse, toSse as toResponseSse } from '../support/responses/answer.ts'

/** A reply with a text and a call of the tool `send`. */
export interface ScriptedReply {
  readonly text: string
  readonly input: JsonObject
}

/** Cuts a text into the pieces that the provider streams. */
export type Cut = (text: string) => readonly string[]

const TOOL = 'send'

/** Returns the script of a provider that gives this reply, with default pieces. */
export function answerOf(provider: ProviderName, { text, input }: ScriptedReply): JsonObject {
  if (provider === 'anthropic') return { content: contentOf({ text, input }), stopReason: 'tool_use' }
  if (provider === 'gemini') return { parts: [{ text }, call(TOOL, input)] }
  return { text, toolCalls: [{ name: TOOL, arguments: JSON.stringify(input) }] }
}

/** Returns the stream of a provider in which texts and arguments are cut into these pieces. */
export function streamOf(provider: ProviderName, reply: ScriptedReply, { body, cut }: { body: JsonObject; cut: Cut }) {
  const context = { body, nth: 1 }
  const script = answerOf(provider, reply)
  if (provider === 'anthropic') {
    const usage = { input_tokens: 3, output_tokens: 9 }
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: String(body.model) }
    const message = { ...head, content: contentOf(reply), stop_reason: 'tool_use', stop_sequence: null, usage }
    const paths = [
      ['delta', 'text'],
      ['delta', 'partial_json'],
    ]
    return toSse(toEvents(message).flatMap((event) => pieces(event, paths, cut)))
  }
  if (provider === 'gemini') {
    const all = toPieces({ ...context, model: 'gemini-2.5-flash' }, script)
    // The last piece has the finish reason, which ends the stream.
    const paths = [['candidates', 0, 'content', 'parts', 0, 'text']]
    return toGeminiSse(all.flatMap((event) => pieces(event, paths, cut)))
  }
  if (provider === 'responder') {
    const events = parseEvents(toResponseSse(toResponse(context, { kind: 'answer', ...script }), false))
    const cutEvents = events.flatMap(({ event, data }) =>
      event.endsWith('.delta') ? pieces(data as JsonObject, [['delta']], cut) : [data as JsonObject],
    )
    const print = (event: JsonObject, sequence_number: number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
    return Buffer.from(cutEvents.map(print).join(''))
  }
  const completion = toCompletion({ ...context, flavour: provider === 'openai' ? 'openai' : 'compatible' }, script)
  const chunks = toChunks(completion, { includeUsage: true, obfuscation: false, interleaved: false })
  const paths = [
    ['choices', 0, 'delta', 'content'],
    ['choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments'],
  ]
  return toChatSse(chunks.flatMap((event) => pieces(event, paths, cut)))
}

function contentOf({ text, input }: ScriptedReply): JsonObject[] {
  return [
    { type: 'text', text },
    { type: 'tool_use', id: 'toolu_1', name: TOOL, input },
  ]
}

/** Returns the event as several, with a piece each of the first text that it has at one of the paths. */
function pieces(event: JsonObject, paths: readonly (readonly (string | number)[])[], cut: Cut): JsonObject[] {
  for (const path of paths) {
    const text = path.reduce<unknown>((value, step) => Object(value)[step], event)
    if (typeof text === 'string' && text !== '') return cut(text).map((piece) => withText(event, path, piece))
  }
  return [event]
}

function withText(event: JsonObject, path: readonly (string | number)[], text: string): JsonObject {
  const copy = structuredClone(event)
  const holder = path.slice(0, -1).reduce<Record<string | number, unknown>>((value, step) => Object(value[step]), copy)
  holder[path.at(-1) ?? ''] = text
  return copy
}

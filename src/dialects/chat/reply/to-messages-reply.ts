import type { JsonObject } from '../../../core/json/json-value.ts'
import { tryParseJson } from '../../../core/json/json-value.ts'
import { firstChoiceOf } from './choices.ts'
import { recordOf, stringOf } from './narrow.ts'
import { reasoningOf, textOf } from './said.ts'
import { isBrokenOff, messageEndingOf } from './stop-reasons.ts'
import { type CallPiece, callIdOf, callsOf, inputOf, NAMELESS } from './tool-calls.ts'
import { NO_USAGE, readChatUsage } from './usage.ts'

/**
 * Converts a chat completion's JSON to a Messages message. `model` and `id` are used where the completion has none.
 * Returns `undefined` when there is no usable answer: no JSON, no choice, or one that the provider itself cut off.
 * Further choices and annotations are left out.
 */
export function toMessagesReply(completion: Buffer, options: { model: string; id: string }): Buffer | undefined {
  const parsed = recordOf(tryParseJson(completion))
  if (parsed === undefined) return undefined
  const first = firstChoiceOf(parsed)
  const said = recordOf(first?.choice.message)
  if (first === undefined || said === undefined || isBrokenOff(first.choice.finish_reason)) return undefined
  const id = stringOf(parsed.id) || options.id
  const path = ['choices', first.position, 'message']
  const calls = callsOf(said, { json: () => completion.toString(), path })
  const ending = messageEndingOf({
    finishReason: first.choice.finish_reason,
    stoppedBy: first.choice.stop_reason,
    hasRefused: stringOf(said.refusal) !== '',
    hasCalled: calls.length > 0,
  })
  const content = [...proseOf(said), ...calls.map((call, number) => toolUseOf(call, callIdOf(id, number)))]
  const head = JSON.stringify({
    id,
    type: 'message',
    role: 'assistant',
    model: stringOf(parsed.model) || options.model,
  })
  const tail = JSON.stringify({ ...ending, usage: readChatUsage(parsed.usage)?.raw ?? NO_USAGE })
  return Buffer.from(`${head.slice(0, -1)},"content":[${content.join(',')}],${tail.slice(1)}`)
}

/** Returns the blocks of reasoning and text. There is no signature, and none is invented: it stays empty. */
function proseOf(said: JsonObject): string[] {
  const thinking = reasoningOf(said)
  const text = textOf(said) + stringOf(said.refusal)
  return [
    ...(thinking === '' ? [] : [JSON.stringify({ type: 'thinking', thinking, signature: '' })]),
    ...(text === '' ? [] : [JSON.stringify({ type: 'text', text })]),
  ]
}

function toolUseOf(call: CallPiece, id: string): string {
  const head = JSON.stringify({ type: 'tool_use', id: call.id || id, name: call.name || NAMELESS })
  return `${head.slice(0, -1)},"input":${inputOf(call.arguments)}}`
}

import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import { elementsOf, membersOf, utf8Of } from '../../../core/json/raw-json.ts'
import { ScanError } from '../../../core/json/scan.ts'
import { readUsage } from '../../../core/reply/usage.ts'
import { recordOf, stringOf } from './narrow.ts'
import { finishReasonOf } from './stop-reasons.ts'
import { toChatUsage } from './usage.ts'

/**
 * Converts a message's JSON to a chat completion; `created` in seconds since 1970. Returns `undefined` for another object.
 * Blocks of the provider's own tools, redacted thinking, signatures and citations have no equivalent and are left out.
 */
export function toChatReply(message: Buffer, options: { created: number }): Buffer | undefined {
  const parsed = recordOf(tryParseJson(message))
  if (parsed === undefined || !Array.isArray(parsed.content)) return undefined
  const calls = callsOf(parsed.content, message)
  if (calls === undefined) return undefined
  const choice = {
    index: 0,
    message: saidOf(parsed.content, calls),
    logprobs: null,
    finish_reason: finishReasonOf(parsed.stop_reason),
  }
  const completion = {
    id: stringOf(parsed.id),
    object: 'chat.completion',
    created: options.created,
    model: stringOf(parsed.model),
    choices: [choice],
    usage: toChatUsage(readUsage(parsed.usage)),
  }
  return Buffer.from(JSON.stringify(completion))
}

function saidOf(content: readonly unknown[], calls: readonly JsonObject[]): JsonObject {
  const thinking = joined(content, 'thinking')
  return {
    role: 'assistant',
    content: joined(content, 'text') || null,
    refusal: null,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Joins the texts of all blocks of a type: a completion has a single string for them. */
function joined(content: readonly unknown[], type: 'text' | 'thinking'): string {
  return content.map((block) => (isObject(block) && block.type === type ? stringOf(block[type]) : '')).join('')
}

/** Returns the tool calls among the blocks. Arguments are the bytes of the input, so that 1.0 and 2^53+1 survive. */
function callsOf(content: readonly unknown[], message: Buffer): JsonObject[] | undefined {
  if (!content.some(isToolUse)) return []
  try {
    const blocks = elementsOf(membersOf(message.toString('latin1').trim()).get('content') ?? '')
    return content.flatMap((block, position) => (isToolUse(block) ? [callOf(block, blocks[position] ?? '')] : []))
  } catch (error) {
    if (error instanceof ScanError) return undefined
    throw error
  }
}

function callOf(block: JsonObject, raw: string): JsonObject {
  const input = isObject(block.input) ? membersOf(raw).get('input') : undefined
  const called = { name: stringOf(block.name), arguments: utf8Of(input ?? '{}') }
  return { id: stringOf(block.id), type: 'function', function: called }
}

function isToolUse(block: unknown): block is JsonObject {
  return isObject(block) && block.type === 'tool_use'
}

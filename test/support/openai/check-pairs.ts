import { isJsonObject, type JsonObject } from '../json.ts'
import { type ChatRejection, invalid } from './rejection.ts'

/** The calls of the newest assistant message that tool messages still have to answer. */
interface Open {
  ids: ReadonlySet<string>
  missing: Set<string>
}

const NO_CALLS: Open = { ids: new Set(), missing: new Set() }

/** Finds the first tool call without its tool message directly after, or tool message without its call. */
export function checkPairs(messages: unknown): ChatRejection | undefined {
  let open = NO_CALLS
  const list: unknown[] = Array.isArray(messages) ? messages : []
  for (const [index, message] of list.entries()) {
    if (!isJsonObject(message)) continue
    const isAnswer = message.role === 'tool'
    const refused = isAnswer ? checkAnswer(message, index, open) : checkAnswered(open, index)
    if (refused) return refused
    if (isAnswer) open.missing.delete(String(message.tool_call_id))
    else open = openCalls(message)
  }
  return checkAnswered(open, list.length)
}

function openCalls({ tool_calls: calls }: JsonObject): Open {
  if (!Array.isArray(calls)) return NO_CALLS
  const ids = calls.map((call: JsonObject) => String(call.id)) // safe: checked message by message before
  return { ids: new Set(ids), missing: new Set(ids) }
}

function checkAnswer({ tool_call_id: id }: JsonObject, index: number, { ids }: Open): ChatRejection | undefined {
  if (ids.size === 0) {
    const message =
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    return invalid(message, { param: `messages.[${index}].role` })
  }
  if (ids.has(String(id))) return undefined
  const message = `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`
  return invalid(message, { param: `messages.[${index}].tool_call_id` })
}

function checkAnswered({ missing }: Open, index: number): ChatRejection | undefined {
  if (missing.size === 0) return undefined
  const message =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
    `The following tool_call_ids did not have response messages: ${[...missing].join(', ')}`
  return invalid(message, { param: `messages.[${index}].role` })
}

import { isJsonObject, type JsonObject } from '../json.ts'
import { checkCalls } from './check-calls.ts'
import { checkParts, type PartRules } from './check-parts.ts'
import {
  type ChatRejection,
  emptyArray,
  invalid,
  missingParameter,
  unknownParameter,
  unsupportedChoice,
  wrongType,
} from './rejection.ts'

/** A server's rules for messages. */
export interface MessageRules extends PartRules {
  /** The part types that the content of each existing role may have. */
  roles: Readonly<Record<string, readonly string[]>>
  /** The members of each role's messages; unset: unknown ones are ignored. */
  members?: Readonly<Record<string, readonly string[]>>
}

const userParts = ['text', 'image_url', 'input_audio', 'file']

/** OpenAI's own rules. */
export const openAIRules: MessageRules = {
  roles: {
    system: ['text'],
    developer: ['text'],
    user: userParts,
    assistant: ['text', 'refusal'],
    tool: ['text'],
    function: [],
  },
  members: {
    system: ['role', 'content', 'name'],
    developer: ['role', 'content', 'name'],
    user: ['role', 'content', 'name'],
    // A client may send a reply's message back unchanged, with its annotations.
    assistant: ['role', 'content', 'name', 'refusal', 'tool_calls', 'function_call', 'audio', 'annotations'],
    tool: ['role', 'content', 'tool_call_id', 'name'],
    function: ['role', 'content', 'name'],
  },
  refusesUnknownMembers: true,
}

/** The rules of a compatible server: no developer role, no files; unknown members are ignored. */
export const compatibleRules: MessageRules = {
  roles: {
    system: ['text'],
    user: userParts.filter((type) => type !== 'file'),
    assistant: ['text', 'refusal'],
    tool: ['text'],
  },
  refusesUnknownMembers: false,
}

/** Returns the first rule that a single message breaks. */
export function checkMessages(messages: unknown, rules: MessageRules): ChatRejection | undefined {
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const refused = checkMessage(message, index, rules)
    if (refused) return refused
  }
  return undefined
}

function checkMessage(message: unknown, index: number, rules: MessageRules): ChatRejection | undefined {
  const at = `messages[${index}]`
  if (!isJsonObject(message)) return wrongType(at, 'an object', message)
  const { role } = message
  if (role === undefined) return missingParameter(`${at}.role`)
  if (typeof role !== 'string' || !Object.hasOwn(rules.roles, role)) {
    return unsupportedChoice(`${at}.role`, role, Object.keys(rules.roles))
  }
  const members = rules.members?.[role]
  const unknown = members && Object.keys(message).find((name) => !members.includes(name))
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`)
  const needed = { tool: 'tool_call_id', function: 'name' }[role]
  if (needed !== undefined && typeof message[needed] !== 'string') return missingParameter(`${at}.${needed}`)
  return checkContent(message, index, rules) ?? (role === 'assistant' ? checkCalls(message, at, rules) : undefined)
}

function checkContent(message: JsonObject, index: number, rules: MessageRules): ChatRejection | undefined {
  const { role, content } = message
  if (typeof content === 'string' || (role === 'function' && content === null)) return undefined
  if (content === undefined || content === null) {
    if (role === 'assistant' && speaksWithoutContent(message)) return undefined
    const reason = "Invalid value for 'content': expected a string, got null."
    return invalid(reason, { param: `messages.[${index}].content` })
  }
  const at = `messages[${index}].content`
  if (!Array.isArray(content)) return wrongType(at, 'one of a string or array of objects', content)
  if (content.length === 0) return emptyArray(at)
  return checkParts(content, at, { ...rules, types: rules.roles[String(role)] ?? [] })
}

function speaksWithoutContent({ tool_calls, function_call, refusal, audio }: JsonObject): boolean {
  return [tool_calls, function_call, refusal, audio].some((value) => value !== undefined && value !== null)
}

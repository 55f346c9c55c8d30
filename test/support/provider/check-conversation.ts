import { isJsonObject, type JsonObject } from '../json.ts'
import { invalid, type Rejection } from './rejection.ts'

/** Neighbouring messages of one role, which the provider reads as one turn. `index` is that of the first message. */
interface Turn {
  role: string
  index: number
  blocks: JsonObject[]
}

const ROLES = new Set(['user', 'assistant', 'system'])

/** Returns the first rule that `messages` breaks: shapes, roles, and the pairing of tool calls with their results. */
export function checkConversation(messages: unknown): Rejection | undefined {
  if (!Array.isArray(messages)) return invalid('messages: Input should be a valid list')
  if (messages.length === 0) return invalid('messages: at least one message is required')
  for (const [index, message] of messages.entries()) {
    const refused = checkMessage(message, index, index === messages.length - 1)
    if (refused) return refused
  }
  return checkPairs(toTurns(messages))
}

function checkMessage(message: unknown, index: number, isLast: boolean): Rejection | undefined {
  const at = `messages.${index}`
  if (!isJsonObject(message)) return invalid(`${at}: Input should be a valid dictionary`)
  const { role, content } = message
  if (typeof role !== 'string' || !ROLES.has(role)) {
    return invalid(`${at}.role: Input should be 'user', 'assistant' or 'system'`)
  }
  if (content === undefined) return invalid(`${at}.content: Field required`)
  if (typeof content !== 'string' && !Array.isArray(content))
    return invalid(`${at}.content: Input should be a valid list`)
  if (content.length === 0 && !(isLast && role === 'assistant')) {
    return invalid(`${at}: all messages must have non-empty content except for the optional final assistant message`)
  }
  return typeof content === 'string' ? undefined : checkBlocks(content, at, role)
}

function checkBlocks(blocks: readonly unknown[], at: string, role: string): Rejection | undefined {
  for (const [index, block] of blocks.entries()) {
    const blockAt = `${at}.content.${index}`
    if (!isJsonObject(block)) return invalid(`${blockAt}: Input should be a valid dictionary`)
    if (typeof block.type !== 'string') return invalid(`${blockAt}.type: Field required`)
    const refused = checkBlock(block, blockAt, role)
    if (refused) return refused
  }
  return undefined
}

function checkBlock(block: JsonObject, at: string, role: string): Rejection | undefined {
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') return invalid(`${at}.text.text: Field required`)
      return block.text === '' ? invalid('messages: text content blocks must be non-empty') : undefined
    case 'tool_use':
      if (role !== 'assistant') return invalid(`${at}: \`tool_use\` blocks can only be in \`assistant\` messages`)
      if (typeof block.id !== 'string') return invalid(`${at}.tool_use.id: Field required`)
      if (typeof block.name !== 'string') return invalid(`${at}.tool_use.name: Field required`)
      return isJsonObject(block.input) ? undefined : invalid(`${at}.tool_use.input: Input should be a valid dictionary`)
    case 'tool_result':
      if (role !== 'user') return invalid(`${at}: \`tool_result\` blocks can only be in \`user\` messages`)
      return typeof block.tool_use_id === 'string'
        ? undefined
        : invalid(`${at}.tool_result.tool_use_id: Field required`)
    default:
      return undefined
  }
}

/** Folds checked messages into turns. System messages are outside of the conversation: they end no turn. */
function toTurns(messages: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system') continue
    const role = String(message.role)
    const blocks = Array.isArray(message.content) ? message.content : [{ type: 'text', text: message.content }]
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, index, blocks: [...blocks] })
  }
  return turns
}

function checkPairs(turns: readonly Turn[]): Rejection | undefined {
  for (const [position, turn] of turns.entries()) {
    const refused =
      turn.role === 'user' ? checkResults(turn, turns[position - 1]) : checkCalls(turn, turns[position + 1])
    if (refused) return refused
  }
  return undefined
}

function checkResults(turn: Turn, previous: Turn | undefined): Rejection | undefined {
  const calls = idsOf(previous, 'tool_use', 'id')
  const results = idsOf(turn, 'tool_result', 'tool_use_id')
  const unknown = results.find((id) => !calls.includes(id))
  if (unknown !== undefined) {
    return invalid(
      `messages.${turn.index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown}. ` +
        'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    )
  }
  if (new Set(results).size < results.length) {
    return invalid(
      `messages.${turn.index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks.`,
    )
  }
  const isFirst = turn.blocks.slice(0, results.length).every((block) => block.type === 'tool_result')
  return isFirst ? undefined : invalid(`messages.${turn.index}: \`tool_result\` blocks must come first in the message.`)
}

function checkCalls(turn: Turn, next: Turn | undefined): Rejection | undefined {
  const calls = idsOf(turn, 'tool_use', 'id')
  if (new Set(calls).size < calls.length) return invalid(`messages.${turn.index}: \`tool_use\` ids must be unique`)
  const results = idsOf(next, 'tool_result', 'tool_use_id')
  const missing = calls.find((id) => !results.includes(id))
  if (missing === undefined) return undefined
  return invalid(
    `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  )
}

function idsOf(turn: Turn | undefined, type: string, name: string): string[] {
  return (turn?.blocks ?? []).filter((block) => block.type === type).map((block) => String(block[name]))
}

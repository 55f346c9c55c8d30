/**
 * DESIGN: the conversation of a chat body in the Messages shape.
 *
 *     system, developer   hoisted, in order, into `system`: older models of the Messages shape have no other place, and
 *                         Anthropic's own layer for OpenAI's SDK does the same
 *     user                a message of its own, or the end of the tool results before it
 *     assistant           text, then tool_use blocks; left out when empty, since Messages refuses empty content
 *     tool, function      tool_result blocks; consecutive ones are one user message, at its beginning
 */

import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { assertContent, cacheControlOf, isPlainText, toBlocks, toTextBlocks } from './blocks-of-parts.ts'
import { ChatFault, objectAt, textAt } from './chat-fault.ts'
import { dropLeftovers, isBlank, isNothing } from './json-value.ts'
import { toToolId } from './tool-id.ts'
import { type Target, toNamedInput, toToolUses } from './tool-uses.ts'

/** `system` and `messages` of a Messages request. */
export interface Conversation {
  readonly system: string | readonly JsonObject[] | undefined
  readonly messages: readonly JsonObject[]
}

/** A conversation under construction. */
interface Draft extends Target {
  readonly system: JsonObject[]
  readonly messages: JsonObject[]
  /** The user message of tool results that further results are added to. */
  toolTurn: ToolTurn | undefined
  /** The id given to the last legacy function call, which has none. */
  functionId: string | undefined
  functionCalls: number
}

interface ToolTurn {
  readonly content: JsonObject[]
  results: number
  hasUserText: boolean
}

/** Translates the messages of a chat body. Throws `ChatFault`. */
export function toConversation(messages: unknown, target: Target): Conversation {
  if (!Array.isArray(messages) || messages.length === 0)
    throw new ChatFault('messages', 'an array of at least one message')
  const draft: Draft = {
    ...target,
    system: [],
    messages: [],
    toolTurn: undefined,
    functionId: undefined,
    functionCalls: 0,
  }
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    addMessage(draft, objectAt(message, path), path)
  }
  return { system: systemOf(draft.system), messages: draft.messages }
}

function systemOf(blocks: readonly JsonObject[]): Conversation['system'] {
  const [first, second] = blocks
  if (first === undefined) return undefined
  return second === undefined && isPlainText(first) ? first.text : blocks
}

const ADD = new Map<unknown, (draft: Draft, message: JsonObject, path: string) => void>([
  ['system', addSystem],
  ['developer', addSystem],
  ['user', addUser],
  ['assistant', addAssistant],
  ['tool', addToolResult],
  ['function', addFunctionResult],
])

function addMessage(draft: Draft, message: JsonObject, path: string): void {
  const add = ADD.get(message.role)
  if (add === undefined) throw new ChatFault(`${path}.role`, [...ADD.keys()].join(', '))
  add(draft, message, path)
}

const SPOKEN = { known: new Set(['role', 'content']), place: 'messages' }

function addSystem({ system, droppedFields }: Draft, message: JsonObject, path: string): void {
  dropLeftovers(message, SPOKEN, droppedFields)
  assertContent(message.content, `${path}.content`)
  for (const block of toTextBlocks(message.content, `${path}.content`, droppedFields)) system.push(block)
}

function addUser(draft: Draft, message: JsonObject, path: string): void {
  const { content } = message
  dropLeftovers(message, SPOKEN, draft.droppedFields)
  assertContent(content, `${path}.content`)
  const turn = draft.toolTurn
  if (turn && !turn.hasUserText) {
    turn.hasUserText = true
    for (const block of toBlocks(content, `${path}.content`, draft.droppedFields)) turn.content.push(block)
    return
  }
  draft.toolTurn = undefined
  const carried = typeof content === 'string' ? content : toBlocks(content, `${path}.content`, draft.droppedFields)
  draft.messages.push({ role: 'user', content: carried })
}

/** Members for other models' thinking; none has the signature that Messages requires. */
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details']
const ANSWERED = {
  known: new Set(['role', 'content', 'refusal', 'tool_calls', 'function_call', 'audio', ...REASONING]),
  place: 'messages',
}

function addAssistant(draft: Draft, message: JsonObject, path: string): void {
  const { droppedFields } = draft
  dropLeftovers(message, ANSWERED, droppedFields)
  if (REASONING.some((name) => !isNothing(message[name]))) droppedFields.drop('messages.reasoning_content')
  if (!isNothing(message.audio)) droppedFields.refuse(`${path}.audio`, 'the Messages shape has no equivalent of audio')
  const texts = toTexts(message, path, droppedFields)
  const calls = [...toToolUses(message, path, draft), ...toFunctionUse(draft, message, path)]
  const [only] = texts
  draft.toolTurn = undefined
  if (only === undefined && calls.length === 0) return
  const isPlain = calls.length === 0 && texts.length === 1 && only !== undefined && isPlainText(only)
  draft.messages.push({ role: 'assistant', content: isPlain ? only.text : [...texts, ...calls] })
}

/** Returns text blocks. Blank text is left out: models put a line break before their calls, and Messages refuses blank blocks. */
function toTexts({ content, refusal }: JsonObject, path: string, droppedFields: DroppedFields): JsonObject[] {
  const blocks = toTextBlocks(content, `${path}.content`, droppedFields)
  if (!isNothing(refusal)) blocks.push({ type: 'text', text: textAt(refusal, `${path}.refusal`) })
  return blocks.filter(({ text }) => typeof text !== 'string' || !isBlank(text))
}

function toFunctionUse(draft: Draft, message: JsonObject, path: string): JsonObject[] {
  if (isNothing(message.function_call)) return []
  draft.functionId = `call_function_${++draft.functionCalls}`
  const called = toNamedInput(message.function_call, `${path}.function_call`, draft)
  return [{ type: 'tool_use', id: draft.functionId, ...called }]
}

const RESULT = { known: new Set(['role', 'content', 'tool_call_id', 'cache_control']), place: 'messages' }
const FUNCTION_RESULT = { known: new Set([...RESULT.known, 'name']), place: 'messages' }

function addToolResult(draft: Draft, message: JsonObject, path: string): void {
  dropLeftovers(message, RESULT, draft.droppedFields)
  addResult(draft, resultOf(message, toToolId(textAt(message.tool_call_id, `${path}.tool_call_id`)), { path, draft }))
}

function addFunctionResult(draft: Draft, message: JsonObject, path: string): void {
  dropLeftovers(message, FUNCTION_RESULT, draft.droppedFields)
  textAt(message.name, `${path}.name`)
  const id = draft.functionId ?? `call_function_${++draft.functionCalls}`
  addResult(draft, resultOf(message, id, { path, draft }))
}

function resultOf(message: JsonObject, id: string, { path, draft }: { path: string; draft: Draft }): JsonObject {
  const content = message.content ?? ''
  const carried = typeof content === 'string' ? content : toBlocks(content, `${path}.content`, draft.droppedFields)
  return { type: 'tool_result', tool_use_id: id, content: carried, ...cacheControlOf(message) }
}

/** Adds a result before the other content of its message, as the provider requires. */
function addResult(draft: Draft, result: JsonObject): void {
  if (draft.toolTurn) {
    draft.toolTurn.content.splice(draft.toolTurn.results++, 0, result)
    return
  }
  const content = [result]
  draft.toolTurn = { content, results: 1, hasUserText: false }
  draft.messages.push({ role: 'user', content })
}

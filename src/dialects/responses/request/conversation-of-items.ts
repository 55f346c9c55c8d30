/**
 * DESIGN: the items of a Responses request in the Messages shape.
 *
 *     message (system, developer)          hoisted, in order, into `system`, as for chat clients
 *     message (user)                       a message of its own, or the end of the tool results before it
 *     message (assistant), reasoning       text and thinking of the assistant's message
 *     function_call, custom_tool_call      tool_use blocks of the same message; arguments that were cut as a text in them
 *     …_output                             tool_result blocks, all together after their calls
 *     additional_tools                     tools of the request: see `tools-of-responses.ts`
 *     compaction                           a message of the user, where this gateway has sealed its summary
 *     calls of the provider's own tools    dropped: their results are in the text that followed
 *
 * Items that the answer depends on and that have no equivalent are refused.
 */
import type { JsonPrinter } from '../../../core/json/json-printer.ts'
import type { JsonObject } from '../../../core/json/json-value.ts'
import type { Tally } from '../../../core/json/scan-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { ChatFault, objectAt, textAt } from '../../chat/request/chat-fault.ts'
import { dropLeftovers, isBlank, isNothing, type Leftovers } from '../../chat/request/json-value.ts'
import { toToolId } from '../../chat/request/tool-id.ts'
import { toInput } from '../../chat/request/tool-uses.ts'
import { COMPACTED_TYPES } from '../compact/compaction-request.ts'
import { thinkingOf } from '../sealed-thinking.ts'
import type { FlatNames } from '../tool-names.ts'
import { toBlocks, toTextBlocks } from './blocks-of-parts.ts'
import { Turns } from './turns.ts'

/** Shared state of one translation. */
export interface Target {
  readonly droppedFields: DroppedFields
  readonly names: FlatNames
  readonly printer: JsonPrinter
  /** Counts the values in call arguments, which become values of the request. */
  readonly tally: Tally
  /** Summaries that the gateway has sealed, by the path of their item. */
  readonly opened?: ReadonlyMap<string, string> | undefined
}

/** Instructions and messages of a Messages request, and the tools among the items. */
export interface Conversation {
  readonly system: readonly JsonObject[]
  readonly messages: readonly JsonObject[]
  /** Lists of tools that are items, with their paths. */
  readonly additionalTools: readonly { readonly tools: unknown; readonly path: string }[]
}

/** A conversation under construction. */
interface Draft extends Target {
  readonly system: JsonObject[]
  readonly turns: Turns
  readonly additionalTools: { tools: unknown; path: string }[]
}

/** Translates `input`. Throws `ChatFault`. */
export function toConversation(input: unknown, target: Target): Conversation {
  const draft: Draft = { ...target, system: [], turns: new Turns(), additionalTools: [] }
  if (typeof input === 'string') draft.turns.addUser(toBlocks(input, 'input', target.droppedFields))
  else if (!Array.isArray(input)) throw new ChatFault('input', 'a string or an array of items')
  else
    for (const [index, value] of input.entries()) addItem(draft, objectAt(value, `input[${index}]`), `input[${index}]`)
  const { system, turns, additionalTools } = draft
  const { messages } = turns
  if (messages.length === 0) throw new ChatFault('input', 'at least one message that is not empty')
  return { system, messages, additionalTools }
}

type AddItem = (draft: Draft, item: JsonObject, path: string) => void

const ADD: ReadonlyMap<unknown, AddItem> = new Map<unknown, AddItem>([
  ['message', addMessage],
  ['reasoning', addReasoning],
  ['function_call', addFunctionCall],
  ['custom_tool_call', addCustomCall],
  ['function_call_output', addOutput],
  ['custom_tool_call_output', addOutput],
  ['additional_tools', addTools],
  ...[...COMPACTED_TYPES].map((type) => [type, addSummary] as const),
])

/** Items of tools that the provider runs itself, and of its search for tools. */
const PROVIDERS_OWN = new Set<unknown>([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['mcp_list_tools', 'mcp_call', 'mcp_approval_request', 'mcp_approval_response'],
])
const WHY_REFUSED: ReadonlyMap<unknown, string> = new Map([
  ['item_reference', 'this provider stores no items; send the item itself'],
  ['compaction_trigger', 'expected it as the last item'],
])

function addItem(draft: Draft, item: JsonObject, path: string): void {
  const type = item.type ?? 'message'
  const add = ADD.get(type)
  if (add !== undefined) add(draft, item, path)
  else if (PROVIDERS_OWN.has(type)) draft.droppedFields.drop(`input.${type}`)
  else {
    const why = WHY_REFUSED.get(type)
    draft.droppedFields.refuse(path, why ?? `there is no equivalent of an item of type ${textAt(type, `${path}.type`)}`)
  }
}

/** Ids and states of items have no effect on the answer. */
const STATE = ['type', 'id', 'status', 'internal_chat_message_metadata_passthrough']
const MESSAGE: Leftovers = { known: new Set([...STATE, 'role', 'content']), place: 'input' }

function addMessage({ system, turns, droppedFields }: Draft, item: JsonObject, path: string): void {
  const { role, content } = item
  dropLeftovers(item, MESSAGE, droppedFields)
  const at = `${path}.content`
  if (role === 'user') turns.addUser(toBlocks(content, at, droppedFields))
  else if (role === 'assistant') turns.addAssistant(toTextBlocks(content, at, droppedFields).filter(isWritten))
  else if (role === 'system' || role === 'developer') system.push(...toTextBlocks(content, at, droppedFields))
  else throw new ChatFault(`${path}.role`, 'user, assistant, system or developer')
}

/** Returns false for blank text: models put a line break before their calls, and Messages refuses blank blocks. */
function isWritten({ text }: JsonObject): boolean {
  return typeof text !== 'string' || !isBlank(text)
}

const REASONING: Leftovers = { known: new Set([...STATE, 'summary', 'content', 'encrypted_content']), place: 'input' }

function addReasoning({ turns, droppedFields }: Draft, item: JsonObject): void {
  dropLeftovers(item, REASONING, droppedFields)
  const block = thinkingOf(item)
  if (block !== undefined) turns.addAssistant([block])
  else if (!isNothing(item.encrypted_content)) droppedFields.drop('input.encrypted_content')
}

const CALL: Leftovers = {
  known: new Set([...STATE, 'call_id', 'name', 'namespace', 'arguments', 'input']),
  place: 'input',
}

function addFunctionCall(draft: Draft, item: JsonObject, path: string): void {
  const { turns, printer, tally, droppedFields } = draft
  dropLeftovers(item, CALL, droppedFields)
  const at = `${path}.arguments`
  const json = textAt(item.arguments, at)
  const input = toInput(json, at, { printer, tally })
  turns.addAssistant([{ ...calledIn(draft, item, path), input }])
}

function addCustomCall(draft: Draft, item: JsonObject, path: string): void {
  dropLeftovers(item, CALL, draft.droppedFields)
  draft.turns.addAssistant([{ ...calledIn(draft, item, path), input: { input: textAt(item.input, `${path}.input`) } }])
}

function calledIn({ names }: Draft, item: JsonObject, path: string): JsonObject {
  const name = names.of(textAt(item.name, `${path}.name`), item.namespace)
  return { type: 'tool_use', id: toToolId(textAt(item.call_id, `${path}.call_id`)), name }
}

const OUTPUT: Leftovers = { known: new Set([...STATE, 'call_id', 'name', 'namespace', 'output']), place: 'input' }

function addOutput({ turns, droppedFields }: Draft, item: JsonObject, path: string): void {
  dropLeftovers(item, OUTPUT, droppedFields)
  const { output } = item
  const id = toToolId(textAt(item.call_id, `${path}.call_id`))
  const content = typeof output === 'string' ? output : toBlocks(output, `${path}.output`, droppedFields)
  turns.addResult({ type: 'tool_result', tool_use_id: id, content })
}

/** A summary is a message of the user, as for agents that summarise by themselves. */
function addSummary({ turns, opened, droppedFields }: Draft, _: JsonObject, path: string): void {
  const summary = opened?.get(path)
  if (summary !== undefined) turns.addUser([{ type: 'text', text: summary }])
  else droppedFields.refuse(path, 'it was encrypted by another provider; send the items that it replaced')
}

function addTools({ additionalTools }: Draft, { tools }: JsonObject, path: string): void {
  additionalTools.push({ tools, path: `${path}.tools` })
}

import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { ContentBlock } from '../../../core/request/message.ts'
import { asJson, dropLeftovers } from './json-value.ts'

/** Context of an assistant message beside its content. */
export interface AssistantOptions {
  /** Path of the content: `messages[3].content`. */
  readonly path: string
  /** Returns the exact JSON text of each block's input, by the block's index; called once, if there is a tool_use block. */
  readonly rawInputs: () => readonly (string | undefined)[]
  /** The member for reasoning text, if the provider accepts it back. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | undefined
  readonly droppedFields: DroppedFields
}

const PLACE = 'messages.content'
const TEXT = { known: new Set(['type', 'text']), place: PLACE }
const CALL = { known: new Set(['type', 'id', 'name', 'input']), place: PLACE }
const THOUGHT = { known: new Set(['type', 'thinking']), place: PLACE }

/** An assistant message under construction. */
interface Draft {
  text: string
  reasoning: string
  readonly calls: JsonObject[]
}

/** Returns the chat message of an assistant turn. Its text blocks are joined, since a chat answer is one text too. */
export function toAssistantMessage(content: string | readonly ContentBlock[], options: AssistantOptions): JsonObject {
  if (typeof content === 'string') return { role: 'assistant', content }
  const draft: Draft = { text: '', reasoning: '', calls: [] }
  let raw: readonly (string | undefined)[] | undefined
  for (const [index, block] of content.entries()) {
    if (block.type === 'tool_use') {
      raw ??= options.rawInputs()
      draft.calls.push(toCall(block, raw[index], options.droppedFields))
    } else addBlock(draft, block, { ...options, path: `${options.path}[${index}]` })
  }
  const { text, reasoning, calls } = draft
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(options.reasoningField && reasoning !== '' && { [options.reasoningField]: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function toCall(
  block: ContentBlock & { type: 'tool_use' },
  raw: string | undefined,
  droppedFields: DroppedFields,
): JsonObject {
  dropLeftovers(asJson(block), CALL, droppedFields)
  const called = { name: block.name, arguments: raw ?? JSON.stringify(block.input) }
  return { id: block.id, type: 'function', function: called }
}

function addBlock(draft: Draft, block: ContentBlock, { path, reasoningField, droppedFields }: AssistantOptions): void {
  if (block.type === 'text') {
    dropLeftovers(asJson(block), TEXT, droppedFields)
    draft.text += block.text
  } else if (block.type === 'thinking' && reasoningField !== undefined) {
    dropLeftovers(block, THOUGHT, droppedFields)
    draft.reasoning += typeof block.thinking === 'string' ? block.thinking : ''
  } else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
    droppedFields.drop(`messages.content.${block.type}`)
  } else droppedFields.refuse(path, `this provider has no equivalent of ${block.type}`)
}

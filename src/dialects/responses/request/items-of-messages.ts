/**
 * DESIGN: the messages of a Messages request as items.
 *
 *     user       [tool_result a, text]          ->  function_call_output a, message
 *     assistant  [thinking, text, tool_use a]   ->  reasoning, message, function_call a
 *
 * Each block keeps its place. Thinking is sent back only if a provider of this API has made it (`sealed-thinking.ts`).
 */
import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { ContentBlock } from '../../../core/request/message.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import { asJson, dropLeftovers, type Leftovers } from '../../chat/request/json-value.ts'
import { toParts } from '../../chat/request/parts-of-blocks.ts'
import { RawInputs } from '../../chat/request/raw-inputs.ts'
import { reasoningOf } from '../sealed-thinking.ts'

const PLACE = 'messages.content'
const RESULT: Leftovers = { known: new Set(['type', 'tool_use_id', 'content', 'is_error']), place: PLACE }
const CALL: Leftovers = { known: new Set(['type', 'id', 'name', 'input']), place: PLACE }
const TEXT: Leftovers = { known: new Set(['type', 'text']), place: PLACE }
const ERROR = 'Error: '

/** Returns the items of a request. */
export function toItems(request: RequestDocument, droppedFields: DroppedFields): JsonObject[] {
  const inputs = new RawInputs(request)
  return request.messages.flatMap(({ role, content }, index) => {
    const path = `messages[${index}].content`
    if (typeof content === 'string') return [messageOf(role, [{ type: 'text', text: content }])]
    if (role !== 'assistant') return itemsOfUser(role, content, { path, droppedFields })
    const raw = content.some(({ type }) => type === 'tool_use') ? inputs.of(index) : []
    return content.flatMap((block, at) =>
      itemOfAssistant(block, { path: `${path}[${at}]`, raw: raw[at], droppedFields }),
    )
  })
}

interface Place {
  readonly path: string
  readonly droppedFields: DroppedFields
}

/** Returns a message of chat parts. */
function messageOf(role: string, parts: readonly JsonObject[]): JsonObject {
  return { type: 'message', role, content: parts.map((part) => toPart(part, role === 'assistant')) }
}

function toPart({ type, text, image_url: image, file }: JsonObject, isAssistant: boolean): JsonObject {
  if (type === 'image_url') return { type: 'input_image', detail: 'auto', image_url: asJson(image ?? {}).url }
  if (type === 'file') return { type: 'input_file', ...asJson(file ?? {}) }
  return isAssistant ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text }
}

function itemsOfUser(role: string, content: readonly ContentBlock[], { path, droppedFields }: Place): JsonObject[] {
  const results: JsonObject[] = []
  const parts: JsonObject[] = []
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_result') results.push(resultOf(block, { path: at, droppedFields }))
    else parts.push(...toParts(asJson(block), at, droppedFields))
  }
  return parts.length > 0 ? [...results, messageOf(role, parts)] : results
}

function resultOf(block: Extract<ContentBlock, { type: 'tool_result' }>, { path, droppedFields }: Place): JsonObject {
  dropLeftovers(asJson(block), RESULT, droppedFields)
  const { content, tool_use_id: call_id, is_error: isError } = block
  const flag = isError === true ? ERROR : ''
  const output =
    typeof content === 'string' || !content
      ? flag + (content ?? '')
      : [
          ...(flag === '' ? [] : [{ type: 'input_text', text: flag }]),
          ...content
            .flatMap((inner, index) => toParts(asJson(inner), `${path}.content[${index}]`, droppedFields))
            .map((part) => toPart(part, false)),
        ]
  return { type: 'function_call_output', call_id, output }
}

function itemOfAssistant(
  block: ContentBlock,
  { path, raw, droppedFields }: Place & { raw: string | undefined },
): JsonObject[] {
  if (block.type === 'text') {
    dropLeftovers(asJson(block), TEXT, droppedFields)
    return [messageOf('assistant', [asJson(block)])]
  }
  if (block.type === 'tool_use') {
    dropLeftovers(asJson(block), CALL, droppedFields)
    const { id: call_id, name, input } = block
    return [{ type: 'function_call', call_id, name, arguments: raw ?? JSON.stringify(input) }]
  }
  if (block.type !== 'thinking' && block.type !== 'redacted_thinking') {
    droppedFields.refuse(path, `this provider has no equivalent of ${block.type}`)
    return []
  }
  const item = reasoningOf(asJson(block))
  if (item === undefined) droppedFields.drop(`messages.content.${block.type}`)
  return item === undefined ? [] : [item]
}

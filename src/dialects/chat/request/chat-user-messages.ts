/**
 * DESIGN: the messages that one user turn becomes.
 *
 *     [tool_result a, tool_result b (text, image), text]
 *       -> tool (a), tool (b, its text), user (the image of b, the text)
 *
 * Chat completions require all tool messages directly after the calls, and no images in them, so other content follows
 * in the user's message, under a line that names its tool result.
 */

import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { ContentBlock } from '../../../core/request/message.ts'
import { asJson, dropLeftovers } from './json-value.ts'
import { toContent, toParts, toTextPart } from './parts-of-blocks.ts'

type ToolResult = Extract<ContentBlock, { type: 'tool_result' }>

const RESULT_MEMBERS = {
  known: new Set(['type', 'tool_use_id', 'content', 'is_error']),
  place: 'messages.content',
}
const ONLY_ATTACHED = '(see the attachment that follows)'
const ERROR = 'Error: '

/** Returns the chat messages of a user turn with this content at `path` (`messages[3].content`). */
export function toUserMessages(
  content: string | readonly ContentBlock[],
  path: string,
  droppedFields: DroppedFields,
): JsonObject[] {
  if (typeof content === 'string') return [{ role: 'user', content }]
  const messages: JsonObject[] = []
  const attached: JsonObject[] = []
  const parts: JsonObject[] = []
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_result') {
      const { text, attachments } = readResult(block, at, droppedFields)
      messages.push({ role: 'tool', tool_call_id: block.tool_use_id, content: text })
      if (attachments.length > 0) attached.push(toTextPart(`Attachment of tool result ${block.tool_use_id}:`))
      for (const attachment of attachments) attached.push(attachment)
    } else for (const part of toParts(asJson(block), at, droppedFields)) parts.push(part)
  }
  const rest = [...attached, ...parts]
  if (rest.length > 0 || messages.length === 0) messages.push({ role: 'user', content: toContent(rest) })
  return messages
}

interface ResultParts {
  readonly text: string
  readonly attachments: readonly JsonObject[]
}

function readResult(block: ToolResult, path: string, droppedFields: DroppedFields): ResultParts {
  dropLeftovers(asJson(block), RESULT_MEMBERS, droppedFields)
  const content = block.content ?? ''
  if (typeof content === 'string') return { text: flag(content, block), attachments: [] }
  const parts = content.flatMap((inner, index) => toParts(asJson(inner), `${path}.content[${index}]`, droppedFields))
  const attachments = parts.filter(({ type }) => type !== 'text')
  const text = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
  return { text: flag(text === '' && attachments.length > 0 ? ONLY_ATTACHED : text, block), attachments }
}

/** Adds the failure to the text, since a tool message has no member for it. */
function flag(text: string, { is_error: isError }: ToolResult): string {
  return isError === true && !text.startsWith(ERROR) ? ERROR + text : text
}

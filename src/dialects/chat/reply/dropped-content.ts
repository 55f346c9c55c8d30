import { isObject, tryParseJson } from '../../../core/json/json-value.ts'
import type { ReplyHeaders } from '../../../core/reply/reply.ts'
import { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { listOf, recordOf } from './narrow.ts'

/** Block types that a completion can represent. */
const CARRIED: ReadonlySet<unknown> = new Set(['text', 'thinking', 'tool_use'])

const NONE: ReadonlySet<unknown> = new Set()
/** Matches block types that may lose something; a usual reply has none and is not parsed again. */
const MAY_LOSE = /"type"\s*:\s*"(?!text"|thinking"|tool_use"|message")|"citations"/

/**
 * Adds the content that a completion cannot represent to `x-svc-dropped`. `carried` are further types of blocks that the
 * client's dialect can.
 */
export function withDroppedContent(headers: ReplyHeaders, message: Buffer, carried = NONE): ReplyHeaders {
  const dropped = MAY_LOSE.test(message.toString('latin1')) ? droppedContent(message, carried) : []
  if (dropped.length === 0) return headers
  return { ...headers, 'x-svc-dropped': [headers['x-svc-dropped'] ?? [], dropped].flat().join(', ') }
}

/** Returns the names of a message's content that is not carried, e.g. `content.server_tool_use`; each once. */
function droppedContent(message: Buffer, carried: ReadonlySet<unknown>): readonly string[] {
  const droppedFields = new DroppedFields()
  for (const block of listOf(recordOf(tryParseJson(message))?.content)) {
    if (!isObject(block)) continue
    if (!CARRIED.has(block.type) && !carried.has(block.type)) droppedFields.drop(`content.${block.type}`)
    if (listOf(block.citations).length > 0) droppedFields.drop('content.text.citations')
  }
  return droppedFields.dropped
}

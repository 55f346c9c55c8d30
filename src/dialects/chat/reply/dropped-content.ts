import { isObject, tryParseJson } from '../../../core/json/json-value.ts'
import { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { listOf, recordOf } from './narrow.ts'

/** Block types that a completion can represent. */
const CARRIED: ReadonlySet<unknown> = new Set(['text', 'thinking', 'tool_use'])

/** Returns the names of a message's content that a completion cannot represent, e.g. `content.server_tool_use`; each once. */
export function droppedContent(message: Buffer): readonly string[] {
  const droppedFields = new DroppedFields()
  for (const block of listOf(recordOf(tryParseJson(message))?.content)) {
    if (!isObject(block)) continue
    if (!CARRIED.has(block.type)) droppedFields.drop(`content.${block.type}`)
    if (listOf(block.citations).length > 0) droppedFields.drop('content.text.citations')
  }
  return droppedFields.dropped
}

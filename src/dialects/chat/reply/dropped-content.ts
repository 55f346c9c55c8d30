import { isObject, tryParseJson } from '../../../core/json/json-value.ts'
import { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { listOf, recordOf } from './narrow.ts'

/** Blocks that a completion has a place for. */
const CARRIED: ReadonlySet<unknown> = new Set(['text', 'thinking', 'tool_use'])

/** Names of what a message's content has and a completion does not, e.g. `content.server_tool_use`; each once. */
export function droppedContent(message: Buffer): readonly string[] {
  const droppedFields = new DroppedFields()
  for (const block of listOf(recordOf(tryParseJson(message))?.content)) {
    if (!isObject(block)) continue
    if (!CARRIED.has(block.type)) droppedFields.drop(`content.${block.type}`)
    if (listOf(block.citations).length > 0) droppedFields.drop('content.text.citations')
  }
  return droppedFields.dropped
}

import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { dropLeftovers, isNothing, wordOf } from './json-value.ts'
import { partsOfDocument } from './parts-of-document.ts'

/** Members of a block that are read, by the block's type. */
const KNOWN = new Map<unknown, ReadonlySet<string>>([
  ['text', new Set(['type', 'text'])],
  ['image', new Set(['type', 'source'])],
  ['document', new Set(['type', 'source', 'title', 'context'])],
  ['search_result', new Set(['type', 'source', 'title', 'content'])],
  ['tool_reference', new Set(['type', 'tool_name'])],
])

/** Returns the parts of a chat message for a user's block at `path`; none when it is refused. */
export function toParts(block: JsonObject, path: string, droppedFields: DroppedFields): JsonObject[] {
  const known = KNOWN.get(block.type)
  if (known === undefined) {
    droppedFields.refuse(path, `this provider has no equivalent of ${wordOf(block.type)}`)
    return []
  }
  dropLeftovers(block, { known, place: 'messages.content' }, droppedFields)
  if (block.type === 'document') return partsOfDocument(block, path, droppedFields)
  if (block.type === 'image') return imageParts(block.source, path, droppedFields)
  const text = block.type === 'search_result' ? textOfSearchResult(block) : (block.text ?? block.tool_name)
  return [toTextPart(typeof text === 'string' ? text : '')]
}

/** Builds a text part. */
export function toTextPart(text: string): JsonObject {
  return { type: 'text', text }
}

/** Returns the content of a chat message: a string when there is only one text. */
export function toContent(parts: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first, second] = parts
  if (first === undefined) return ''
  return second === undefined && typeof first.text === 'string' ? first.text : parts
}

function imageParts(source: unknown, path: string, droppedFields: DroppedFields): JsonObject[] {
  const url = isObject(source) ? urlOf(source) : undefined
  if (url !== undefined) return [{ type: 'image_url', image_url: { url } }]
  droppedFields.refuse(path, 'an image must be in the request or have a URL for this provider')
  return []
}

function urlOf({ type, url, media_type: mediaType, data }: JsonObject): string | undefined {
  if (type === 'url' && typeof url === 'string') return url
  const isInline = type === 'base64' && typeof mediaType === 'string' && typeof data === 'string'
  return isInline ? `data:${mediaType};base64,${data}` : undefined
}

function textOfSearchResult({ title, source, content }: JsonObject): string {
  const blocks = Array.isArray(content) ? content : []
  const texts = blocks.map((block) => (isObject(block) ? block.text : undefined))
  return [title, source, ...texts].filter((line) => typeof line === 'string' && !isNothing(line)).join('\n')
}

import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'

/** Name of a file without a title: OpenAI requires one. */
const UNTITLED = 'document.pdf'

/** Returns the parts of a document block at `path`: a file for a PDF, text for text. */
export function partsOfDocument(block: JsonObject, path: string, droppedFields: DroppedFields): JsonObject[] {
  const source = isObject(block.source) ? block.source : {}
  const { media_type: mediaType, data } = source
  if (source.type === 'text' && typeof data === 'string') return [text(joinLines(block.title, block.context, data))]
  if (source.type === 'content') return [...headOf(block), ...partsOfContent(source.content, path, droppedFields)]
  if (source.type === 'base64' && mediaType === 'application/pdf' && typeof data === 'string')
    return [...headOf({ context: block.context }), fileOf(block.title, data)]
  droppedFields.refuse(path, 'a document must be text, or a PDF in the request, for this provider')
  return []
}

function fileOf(title: unknown, data: string): JsonObject {
  const filename = typeof title === 'string' && title !== '' ? title : UNTITLED
  return { type: 'file', file: { filename, file_data: `data:application/pdf;base64,${data}` } }
}

function headOf({ title, context }: JsonObject): JsonObject[] {
  const head = joinLines(title, context)
  return head === '' ? [] : [text(head)]
}

function partsOfContent(content: unknown, path: string, droppedFields: DroppedFields): JsonObject[] {
  if (typeof content === 'string') return [text(content)]
  const blocks: unknown[] = Array.isArray(content) ? content : []
  return blocks.flatMap((block, index) => {
    if (isObject(block) && typeof block.text === 'string') return [text(block.text)]
    droppedFields.refuse(`${path}.source.content[${index}]`, 'only text is allowed in a document for this provider')
    return []
  })
}

function joinLines(...lines: readonly unknown[]): string {
  return lines.filter((line) => typeof line === 'string' && line !== '').join('\n')
}

function text(text: string): JsonObject {
  return { type: 'text', text }
}

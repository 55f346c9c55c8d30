import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { objectAt, textAt } from './chat-fault.ts'
import { dropLeftovers, isNothing } from './json-value.ts'

const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^;,]+)*?;base64,/i
const FILE_MEMBERS = new Set(['file_data', 'filename', 'file_id'])

/** Returns the document block of a `file` part at `path`, or `undefined` when it is refused. */
export function documentOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  const file = objectAt(part.file, `${path}.file`)
  dropLeftovers(file, { known: FILE_MEMBERS, place: 'messages.content.file' }, droppedFields)
  if (isNothing(file.file_data)) {
    droppedFields.refuse(
      `${path}.file`,
      'a file must be in the request, as file_data; uploaded files are not available',
    )
    return undefined
  }
  const source = documentSourceOf(textAt(file.file_data, `${path}.file.file_data`))
  if (source === undefined)
    droppedFields.refuse(`${path}.file`, 'file_data must be a base64 data URI of a PDF or of plain text')
  return source && { type: 'document', source, ...titleOf(file, path) }
}

/** Returns the source of a document, a base64 data URI of a PDF or of plain text; `undefined` for any other text. */
export function documentSourceOf(uri: string): JsonObject | undefined {
  const head = DATA_URI.exec(uri)
  const type = head?.[1]?.toLowerCase()
  const data = uri.slice(head?.[0].length)
  if (type === 'application/pdf') return { type: 'base64', media_type: type, data }
  if (type === 'text/plain') return { type: 'text', media_type: type, data: Buffer.from(data, 'base64').toString() }
  return undefined
}

function titleOf(file: JsonObject, path: string): { title?: string } {
  return isNothing(file.filename) ? {} : { title: textAt(file.filename, `${path}.file.filename`) }
}

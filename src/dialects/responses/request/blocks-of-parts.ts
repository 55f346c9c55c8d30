import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { cacheControlOf, imageSourceOf } from '../../chat/request/blocks-of-parts.ts'
import { ChatFault, listAt, objectAt, textAt } from '../../chat/request/chat-fault.ts'
import { documentSourceOf } from '../../chat/request/document-of-file.ts'
import { dropLeftovers, isNothing } from '../../chat/request/json-value.ts'

const PLACE = 'input.content'
const MARKS = ['type', 'cache_control', 'prompt_cache_breakpoint']
/** `annotations` and `logprobs` of earlier answers have no effect on the next one. */
const TEXT = { known: new Set([...MARKS, 'text', 'annotations', 'logprobs']), place: PLACE }
const REFUSAL = { known: new Set([...MARKS, 'refusal']), place: PLACE }
const FILE = { known: new Set([...MARKS, 'file_data', 'file_url', 'filename', 'file_id']), place: PLACE }
/** `detail` has no effect when it is `auto`. */
const IMAGE = { known: new Set([...MARKS, 'image_url', 'file_id']), place: PLACE }
const AUTO_IMAGE = { known: new Set([...IMAGE.known, 'detail']), place: PLACE }
const WEB_URL = /^https?:\/\//i

type ReadPart = (part: JsonObject, path: string, droppedFields: DroppedFields) => JsonObject | undefined

const READERS: ReadonlyMap<unknown, ReadPart> = new Map([
  ['input_text', textOf],
  ['output_text', textOf],
  ['text', textOf],
  ['refusal', refusalOf],
  ['input_image', imageOf],
  ['input_file', fileOf],
])
const TEXTUAL = new Set<unknown>(['input_text', 'output_text', 'text', 'refusal'])

/**
 * Returns the blocks of an item's content, string or parts, at `path` (`input[3].content`). Content without an equivalent is
 * refused; empty text, which the Messages shape refuses, is left out.
 */
export function toBlocks(content: unknown, path: string, droppedFields: DroppedFields): JsonObject[] {
  return collect(content, path, (part, at) => (READERS.get(part.type) ?? refuseUnknown)(part, at, droppedFields))
}

/** The same for text-only content: messages of the system and the assistant. */
export function toTextBlocks(content: unknown, path: string, droppedFields: DroppedFields): JsonObject[] {
  return collect(content, path, (part, at) =>
    (TEXTUAL.has(part.type) ? (READERS.get(part.type) ?? refuseUnknown) : refuseMedia)(part, at, droppedFields),
  )
}

function collect(
  content: unknown,
  path: string,
  read: (part: JsonObject, path: string) => JsonObject | undefined,
): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw new ChatFault(path, 'a string or an array')
  return listAt(content, path).flatMap((value, index) => {
    const at = `${path}[${index}]`
    const block = read(objectAt(value, at), at)
    return block === undefined || block.text === '' ? [] : [block]
  })
}

function refuseUnknown(part: JsonObject, path: string, droppedFields: DroppedFields): undefined {
  const type = textAt(part.type, `${path}.type`)
  droppedFields.refuse(path, `the Messages shape has no equivalent of a part of type ${type}`)
}

function refuseMedia(part: JsonObject, path: string, droppedFields: DroppedFields): undefined {
  droppedFields.refuse(path, `only text is allowed here, not ${textAt(part.type, `${path}.type`)}`)
}

function textOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject {
  dropLeftovers(part, TEXT, droppedFields)
  return { type: 'text', text: textAt(part.text, `${path}.text`), ...markOf(part) }
}

function refusalOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject {
  dropLeftovers(part, REFUSAL, droppedFields)
  return { type: 'text', text: textAt(part.refusal, `${path}.refusal`), ...markOf(part) }
}

function imageOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  dropLeftovers(part, part.detail === 'auto' ? AUTO_IMAGE : IMAGE, droppedFields)
  if (isNothing(part.image_url)) {
    droppedFields.refuse(path, 'an image must be in the request, as image_url; uploaded files are not available')
    return undefined
  }
  const source = imageSourceOf(textAt(part.image_url, `${path}.image_url`))
  if (source === undefined)
    droppedFields.refuse(path, 'an image must be an http(s) URL or a base64 data URI of an image')
  return source && { type: 'image', source, ...markOf(part) }
}

function fileOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  dropLeftovers(part, FILE, droppedFields)
  const source = fileSourceOf(part, path, droppedFields)
  if (source === undefined) return undefined
  const title = isNothing(part.filename) ? {} : { title: textAt(part.filename, `${path}.filename`) }
  return { type: 'document', source, ...title, ...markOf(part) }
}

function fileSourceOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  if (!isNothing(part.file_url)) {
    const url = textAt(part.file_url, `${path}.file_url`)
    if (WEB_URL.test(url)) return { type: 'url', url }
    droppedFields.refuse(path, 'file_url must be an http(s) URL')
    return undefined
  }
  if (isNothing(part.file_data)) {
    droppedFields.refuse(path, 'a file must be in the request, as file_data; uploaded files are not available')
    return undefined
  }
  const source = documentSourceOf(textAt(part.file_data, `${path}.file_data`))
  if (source === undefined) droppedFields.refuse(path, 'file_data must be a base64 data URI of a PDF or of plain text')
  return source
}

/** Returns the mark for the prompt cache: OpenAI's breakpoint, or Anthropic's, which compatible servers accept. */
function markOf(part: JsonObject): { cache_control?: JsonObject } {
  return isObject(part.prompt_cache_breakpoint) ? { cache_control: { type: 'ephemeral' } } : cacheControlOf(part)
}

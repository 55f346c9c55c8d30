import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { ChatFault, listAt, objectAt, textAt } from './chat-fault.ts'
import { documentOf } from './document-of-file.ts'
import { dropLeftovers, wordOf } from './json-value.ts'

/** Members of a content part that are read, by the part's type. */
const KNOWN = {
  text: new Set(['type', 'text', 'cache_control']),
  refusal: new Set(['type', 'refusal', 'cache_control']),
  image_url: new Set(['type', 'image_url', 'cache_control']),
  file: new Set(['type', 'file', 'cache_control']),
}
/** `detail` has no effect when it is `auto`. */
const URL_AND_DETAIL = new Set(['url', 'detail'])
const URL_ALONE = new Set(['url'])
const PLACE = 'messages.content'
const DATA_URI_OF_IMAGE = /^data:(image\/[\w.+-]+)(?:;[^;,]+)*?;base64,/i
const WEB_URL = /^https?:\/\//i

/** Returns the blocks of a message's content, string or parts, at `path` (`messages[3].content`). Content without an equivalent is refused. */
export function toBlocks(content: unknown, path: string, droppedFields: DroppedFields): JsonObject[] {
  return collect(content, path, (part, at) => textOf(part, at, droppedFields) ?? mediaOf(part, at, droppedFields))
}

/** The same for text-only content: messages of the system and the assistant. */
export function toTextBlocks(content: unknown, path: string, droppedFields: DroppedFields): JsonObject[] {
  return collect(content, path, (part, at) => {
    const block = textOf(part, at, droppedFields)
    if (block === undefined) droppedFields.refuse(at, `only text is allowed here, not ${wordOf(part.type)}`)
    return block
  })
}

/** Returns true for a block with text and no other members. */
export function isPlainText(block: JsonObject): block is { type: 'text'; text: string } {
  return block.type === 'text' && block.cache_control === undefined
}

type ReadPart = (part: JsonObject, path: string) => JsonObject | undefined

function collect(content: unknown, path: string, read: ReadPart): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  const blocks: JsonObject[] = []
  for (const [index, part] of listAt(content, path).entries()) {
    const at = `${path}[${index}]`
    const block = read(objectAt(part, at), at)
    // The Messages shape refuses empty text, which chat completions allow; leaving it out loses nothing.
    if (block !== undefined && block.text !== '') blocks.push(block)
  }
  return blocks
}

function textOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  if (part.type !== 'text' && part.type !== 'refusal') return undefined
  dropLeftovers(part, { known: KNOWN[part.type], place: PLACE }, droppedFields)
  return { type: 'text', text: textAt(part[part.type], `${path}.${part.type}`), ...cacheControlOf(part) }
}

function mediaOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  const { type } = part
  if (type === 'image_url') return mark(imageOf(part, path, droppedFields), part, droppedFields)
  if (type === 'file') return mark(documentOf(part, path, droppedFields), part, droppedFields)
  droppedFields.refuse(path, `the Messages shape has no equivalent of a part of type ${textAt(type, `${path}.type`)}`)
  return undefined
}

function mark(block: JsonObject | undefined, part: JsonObject, droppedFields: DroppedFields): JsonObject | undefined {
  dropLeftovers(part, { known: part.type === 'file' ? KNOWN.file : KNOWN.image_url, place: PLACE }, droppedFields)
  return block && { ...block, ...cacheControlOf(part) }
}

/** Returns the cache mark: compatible servers accept Anthropic's on parts and tools. */
export function cacheControlOf({ cache_control }: JsonObject): { cache_control?: JsonObject } {
  return isObject(cache_control) ? { cache_control } : {}
}

function imageOf(part: JsonObject, path: string, droppedFields: DroppedFields): JsonObject | undefined {
  const image = objectAt(part.image_url, `${path}.image_url`)
  const url = textAt(image.url, `${path}.image_url.url`)
  const known = image.detail === 'auto' ? URL_AND_DETAIL : URL_ALONE
  dropLeftovers(image, { known, place: `${PLACE}.image_url` }, droppedFields)
  const source = imageSourceOf(url)
  if (source === undefined)
    droppedFields.refuse(path, 'an image must be an http(s) URL or a base64 data URI of an image')
  return source && { type: 'image', source }
}

/** Returns the source of an image, an http(s) URL or a base64 data URI; `undefined` for any other text. */
export function imageSourceOf(url: string): JsonObject | undefined {
  if (WEB_URL.test(url)) return { type: 'url', url }
  const head = DATA_URI_OF_IMAGE.exec(url)
  return head ? { type: 'base64', media_type: head[1]?.toLowerCase(), data: url.slice(head[0].length) } : undefined
}

/** Throws `ChatFault` when required content is missing. */
export function assertContent(content: unknown, path: string): void {
  if (typeof content !== 'string' && !Array.isArray(content)) throw new ChatFault(path, 'a string or an array')
}

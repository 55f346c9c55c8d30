import { elementsOf, isString, type Members, membersOf, objectOf } from '../../core/json/raw-json.ts'
import { dropOthers, given, printGiven, type Translation, textOf } from './raw-fields.ts'

/** A part of a Gemini content; values are raw JSON. */
export type Part =
  | { readonly kind: 'text'; readonly text: string; signature?: string }
  | { readonly kind: 'call'; readonly call: string; signature?: string }
  | { readonly kind: 'response'; readonly response: string; signature?: never }
  /** `inlineData` may also be inside a function response, `fileData` may not. */
  | { readonly kind: 'inlineData' | 'fileData'; readonly media: string; signature?: never }

/** Position of a block: its exact path for refusals, its field's name for dropped fields. */
export interface Place {
  readonly path: string
  readonly field: string
}

const KNOWN_TEXT = new Set(['type', 'text'])
const KNOWN_IMAGE = new Set(['type', 'source'])
const KNOWN_DOCUMENT = new Set(['type', 'source', 'title', 'context'])
/** File types by the extension of an address; Gemini requires them, and the Messages shape has none. */
const TYPES_BY_EXTENSION = new Map([
  ...[['png', 'image/png'] as const, ['jpg', 'image/jpeg'] as const, ['jpeg', 'image/jpeg'] as const],
  ...[['webp', 'image/webp'] as const, ['heic', 'image/heic'] as const, ['heif', 'image/heif'] as const],
  ['pdf', 'application/pdf'],
])

/** Prints a part as raw JSON. */
export function printPart(part: Part): string {
  switch (part.kind) {
    case 'text':
      return printGiven({ text: part.text, thoughtSignature: part.signature })
    case 'call':
      return printGiven({ functionCall: part.call, thoughtSignature: part.signature })
    case 'response':
      return printGiven({ functionResponse: part.response })
    case 'inlineData':
    case 'fileData':
      return printGiven({ [part.kind]: part.media })
    default:
      return part satisfies never
  }
}

/** Converts a text, an image or a document to parts; none when it is empty or refused. */
export function toParts(block: Members, place: Place, translation: Translation): Part[] {
  const type = textOf(block.get('type'))
  const dropped = { droppedFields: translation.droppedFields, prefix: `${place.field}.` }
  if (type === 'text') {
    dropOthers(block, KNOWN_TEXT, dropped)
    return toTexts(block.get('text'))
  }
  if (type === 'image') {
    dropOthers(block, KNOWN_IMAGE, dropped)
    return toMedia(block, place, translation)
  }
  if (type === 'document') {
    dropOthers(block, KNOWN_DOCUMENT, dropped)
    const heading = [given(block, 'title'), given(block, 'context')].flatMap(toTexts)
    return [...heading, ...toMedia(block, place, translation)]
  }
  translation.droppedFields.refuse(
    place.path,
    `Gemini has no equivalent of a block of type ${nameOf(type)} here; remove it`,
  )
  return []
}

/** Converts a raw text to a part. Empty text is left out, since Gemini refuses parts without data. */
export function toTexts(text: string | undefined): Part[] {
  return isString(text) && text !== '""' ? [{ kind: 'text', text }] : []
}

/** Formats a type for an error message; the client's own text is not repeated. */
export function nameOf(type: string | undefined): string {
  return type !== undefined && /^\w{1,64}$/.test(type) ? `\`${type}\`` : 'that is not known'
}

function toMedia(block: Members, { path, field }: Place, translation: Translation): Part[] {
  const at = { path: `${path}.source`, field: `${field}.source` }
  const source = objectOf(block.get('source'))
  const type = textOf(source?.get('type'))
  if (source !== undefined && type === 'base64') return toInline(source, at, translation)
  if (source !== undefined && type === 'url') return toFile(source, block, { ...at, translation })
  if (source !== undefined && type === 'text') return toTexts(source.get('data'))
  if (source !== undefined && type === 'content') return toContent(source, at, translation)
  translation.droppedFields.refuse(
    at.path,
    `Gemini has no equivalent of a source of type ${nameOf(type)}; send the data as base64 or, if it is public, its https address`,
  )
  return []
}

function toInline(source: Members, { path }: Place, { droppedFields }: Translation): Part[] {
  const mimeType = given(source, 'media_type')
  const data = given(source, 'data')
  if (isString(mimeType) && isString(data)) return [{ kind: 'inlineData', media: printGiven({ mimeType, data }) }]
  droppedFields.refuse(path, 'expected media_type and data')
  return []
}

function toFile(source: Members, block: Members, { path, translation }: Place & { translation: Translation }): Part[] {
  const fileUri = source.get('url')
  const mimeType = typeOfAddress(textOf(fileUri), textOf(block.get('type')))
  if (fileUri !== undefined && mimeType !== undefined) {
    return [{ kind: 'fileData', media: printGiven({ mimeType: `"${mimeType}"`, fileUri }) }]
  }
  translation.droppedFields.refuse(
    path,
    'Gemini takes https addresses only, and requires the type, which this one does not show; send the data as base64',
  )
  return []
}

function typeOfAddress(address: string | undefined, blockType: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address)
  if (url?.protocol !== 'https:') return undefined
  const mimeType = TYPES_BY_EXTENSION.get(/\.(\w+)$/.exec(url.pathname)?.[1]?.toLowerCase() ?? '')
  // The Messages shape allows only PDF addresses for documents, and only image addresses for images.
  if (blockType === 'document') return mimeType?.startsWith('image/') ? undefined : 'application/pdf'
  return mimeType?.startsWith('image/') ? mimeType : undefined
}

function toContent(source: Members, { path, field }: Place, translation: Translation): Part[] {
  const content = given(source, 'content')
  if (content === undefined || isString(content)) return toTexts(content)
  return elementsOf(content).flatMap((block, index) =>
    toParts(membersOf(block), { path: `${path}.content[${index}]`, field: `${field}.content` }, translation),
  )
}

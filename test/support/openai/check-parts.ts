import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import {
  type ChatRejection,
  invalid,
  missingParameter,
  unknownParameter,
  unsupportedChoice,
  wrongType,
} from './rejection.ts'

/** A server's treatment of unknown members. */
export interface PartRules {
  refusesUnknownMembers: boolean
}

const members: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  refusal: ['refusal'],
  image_url: ['url', 'detail'],
  input_audio: ['data', 'format'],
  file: ['filename', 'file_data', 'file_id'],
}
const IMAGE_DATA = /^data:image\/(png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+=*$/
const PDF_DATA = /^data:application\/pdf;base64,[A-Za-z0-9+/]+=*$/

/** Returns the first rule that the parts of one message break; `types` are those its role may have. */
export function checkParts(
  parts: readonly unknown[],
  path: string,
  rules: PartRules & { types: readonly string[] },
): ChatRejection | undefined {
  for (const [index, part] of parts.entries()) {
    const at = `${path}[${index}]`
    if (!isJsonObject(part)) return wrongType(at, 'an object', part)
    if (part.type === undefined) return missingParameter(`${at}.type`)
    if (!rules.types.includes(String(part.type))) return unsupportedChoice(`${at}.type`, part.type, rules.types)
    const refused = (rules.refusesUnknownMembers ? checkMembers(part, at) : undefined) ?? checkPart(part, at)
    if (refused) return refused
  }
  return undefined
}

function checkMembers(part: JsonObject, at: string): ChatRejection | undefined {
  const type = String(part.type)
  const known = ['type', type, 'prompt_cache_breakpoint']
  const unknown = Object.keys(part).find((name) => !known.includes(name))
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`)
  const inner = isJsonObject(part[type]) ? Object.keys(part[type]) : []
  const unknownInner = inner.find((name) => !members[type]?.includes(name))
  return unknownInner === undefined ? undefined : unknownParameter(`${at}.${type}.${unknownInner}`)
}

function checkPart(part: JsonObject, at: string): ChatRejection | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const value = part[part.type]
      return typeof value === 'string' ? undefined : wrongType(`${at}.${part.type}`, 'a string', value)
    }
    case 'image_url':
      return checkImage(part.image_url, `${at}.image_url`)
    case 'input_audio':
      return checkAudio(part.input_audio, `${at}.input_audio`)
    default:
      return checkFile(part.file, `${at}.file`)
  }
}

function checkImage(image: unknown, at: string): ChatRejection | undefined {
  if (!isJsonObject(image)) return wrongType(at, 'an object', image)
  const { url, detail = 'auto' } = image
  if (typeof url !== 'string') return missingParameter(`${at}.url`)
  const details = ['auto', 'low', 'high', 'original']
  if (!details.includes(String(detail))) return unsupportedChoice(`${at}.detail`, detail, details)
  if (/^https?:\/\//.test(url) || IMAGE_DATA.test(url)) return undefined
  const message = url.startsWith('data:')
    ? "You uploaded an unsupported image. Please make sure your image is valid and of one of the formats ['png', 'jpeg', 'gif', 'webp']."
    : `Invalid image URL. Expected an HTTP(S) URL or a base64-encoded data URL, but got '${url.slice(0, 40)}'.`
  return invalid(message, { param: `${at}.url`, code: 'invalid_image_url' })
}

function checkAudio(audio: unknown, at: string): ChatRejection | undefined {
  if (typeof valueAt(audio, 'data') !== 'string') return missingParameter(`${at}.data`)
  const format = valueAt(audio, 'format')
  const formats = ['wav', 'mp3']
  return formats.includes(String(format)) ? undefined : unsupportedChoice(`${at}.format`, format, formats)
}

function checkFile(file: unknown, at: string): ChatRejection | undefined {
  if (!isJsonObject(file)) return wrongType(at, 'an object', file)
  const { file_id: id, filename, file_data: data } = file
  if (typeof id === 'string') return undefined
  if (data === undefined) return missingParameter(`${at}.file_id`)
  if (typeof filename !== 'string') return missingParameter(`${at}.filename`)
  if (PDF_DATA.test(String(data))) return undefined
  const message =
    "Invalid file data: 'file_data'. Expected a base64-encoded data URL with an application/pdf MIME type."
  return invalid(message, { param: `${at}.file_data`, code: 'invalid_value' })
}

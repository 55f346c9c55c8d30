import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'

/** Encodes text as base64url without padding (RFC 4648, section 5). */
export function toBase64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/**
 * Decodes base64url without padding; `undefined` for any other form. Node's decoder accepts much more: the other
 * alphabet, padding, stray bits at the end; then one text would have many encodings.
 */
export function fromBase64url(encoded: string): string | undefined {
  const bytes = Buffer.from(encoded, 'base64url')
  if (bytes.toString('base64url') !== encoded) return undefined
  const text = bytes.toString('utf8')
  return Buffer.byteLength(text) === bytes.length && !text.includes('\ufffd') ? text : undefined
}

/** Decodes a JSON object from base64url; `undefined` when there is none. */
export function objectFromBase64url(encoded: string): JsonObject | undefined {
  const text = fromBase64url(encoded)
  return text === undefined ? undefined : asObject(tryParseJson(text))
}

/** Returns the value when it is an object, else `undefined`. */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

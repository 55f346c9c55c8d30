/**
 * DESIGN: thinking of the Messages shape as a reasoning item, and back.
 *
 *     thinking, signature    ◄──► summary, encrypted_content `messages-thinking:<signature>`
 *     thinking without one   ◄──► summary, no encrypted_content
 *     redacted_thinking      ◄──► no summary, encrypted_content `messages-redacted:<data>`
 *
 * A model continues a turn with tools only if its thinking returns unchanged, with its signature. Clients return reasoning
 * items as they are, so the signature travels in the member that is opaque to them. The prefix keeps content that another
 * provider has encrypted from being sent as a signature.
 */
import { isObject, type JsonObject } from '../../core/json/json-value.ts'

const THINKING_PREFIX = 'messages-thinking:'
const REDACTED_PREFIX = 'messages-redacted:'

/** Returns the `encrypted_content` of thinking with this signature; null without one. */
export function sealSignature(signature: string): string | null {
  return signature === '' ? null : THINKING_PREFIX + signature
}

/** Returns the `encrypted_content` of redacted thinking. */
export function sealRedacted(data: string): string {
  return REDACTED_PREFIX + data
}

/** Returns the thinking block of a reasoning item; `undefined` when it is empty or encrypted by another provider. */
export function thinkingOf(item: JsonObject): JsonObject | undefined {
  const { encrypted_content: sealed } = item
  const thinking = textsOf(item.summary) || textsOf(item.content)
  if (typeof sealed !== 'string' || sealed === '')
    return thinking === '' ? undefined : { type: 'thinking', thinking, signature: '' }
  if (sealed.startsWith(THINKING_PREFIX))
    return { type: 'thinking', thinking, signature: sealed.slice(THINKING_PREFIX.length) }
  if (sealed.startsWith(REDACTED_PREFIX))
    return { type: 'redacted_thinking', data: sealed.slice(REDACTED_PREFIX.length) }
  return undefined
}

function textsOf(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n\n')
}

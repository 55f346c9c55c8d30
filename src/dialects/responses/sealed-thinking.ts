/**
 * DESIGN: thinking of the Messages shape as a reasoning item, and back.
 *
 *     thinking, signature    ◄──► summary, encrypted_content `messages-thinking:<signature>`
 *     thinking without one   ◄──► summary, encrypted_content `messages-thinking:`
 *     redacted_thinking      ◄──► no summary, encrypted_content `messages-redacted:<data>`
 *
 *     a reasoning item       ◄──► thinking, signature `openai-reasoning:<id>:<encrypted_content>`: id and content are a pair
 *
 * A model continues a turn with tools only if its thinking returns unchanged, with its signature. Clients return reasoning
 * items as they are, so the signature travels in the member that is opaque to them. The prefix keeps content that another
 * provider has encrypted from being sent as a signature.
 */
import { isObject, type JsonObject } from '../../core/json/json-value.ts'

const THINKING_PREFIX = 'messages-thinking:'
const REDACTED_PREFIX = 'messages-redacted:'
const OWN_PREFIX = 'openai-reasoning:'
const OWN = /^openai-reasoning:([^:]*):(.+)$/s

/** Returns the `encrypted_content` of thinking with this signature, which may be empty. */
export function sealSignature(signature: string): string {
  return THINKING_PREFIX + signature
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

/** Returns the signature that carries a provider's reasoning item through the Messages shape; '' without encrypted content. */
export function signatureOf({ id, encrypted_content: encrypted }: JsonObject): string {
  if (typeof encrypted !== 'string' || encrypted === '') return ''
  return `${OWN_PREFIX}${typeof id === 'string' ? id : ''}:${encrypted}`
}

/** Returns the reasoning item of thinking that a provider of this API has made; `undefined` for any other. */
export function reasoningOf({ thinking, signature }: JsonObject): JsonObject | undefined {
  const [, id = '', encrypted_content] = (typeof signature === 'string' && OWN.exec(signature)) || []
  if (encrypted_content === undefined) return undefined
  const summary = typeof thinking === 'string' && thinking !== '' ? [{ type: 'summary_text', text: thinking }] : []
  return { type: 'reasoning', ...(id !== '' && { id }), summary, encrypted_content }
}

/** Returns false for a body in which no reasoning can be sealed by this gateway. */
export function isSealed(body: Buffer): boolean {
  return body.includes(THINKING_PREFIX) || body.includes(REDACTED_PREFIX)
}

/**
 * Opens a reasoning item for a provider of this API: returns the provider's own item where it passed through the Messages
 * shape, the same item where nothing is sealed, `undefined` where another API has made it.
 */
export function openSealed(item: JsonObject): JsonObject | undefined {
  const { encrypted_content: sealed } = item
  if (typeof sealed !== 'string' || !(sealed.startsWith(THINKING_PREFIX) || sealed.startsWith(REDACTED_PREFIX)))
    return item
  const block = thinkingOf(item)
  return block && reasoningOf(block)
}

/**
 * DESIGN — parts of a request that cannot be read as text
 *
 * `own` was made by a provider from what it had received, and holds no text of the client that it does not know: signed or
 * encrypted thinking, encrypted results of its own tools. It is signed, so it passes unchanged.
 * `foreign` may hold anything: pictures, sound, PDF, files and addresses from which the provider reads. It is refused.
 */
import type { Exchange } from 'turnpike/plugin'

type TextPlace = Parameters<Parameters<Exchange['mapRequestText']>[0]>[1]

/** A text that is not read, and why. */
export type Unread = { readonly kind: 'own' } | { readonly kind: 'foreign'; readonly what: string }

const OWN: Unread = { kind: 'own' }
const OWN_MEMBERS = /^(?:signature|encrypted_(?:content|index|stdout|reasoning)|thought_signature|thoughtSignature)$/
const FILE_MEMBERS = /^(?:file_id|file_data|fileData|inlineData)$/
/** With its media type: prose, and lines of server-sent events, begin with `data:` too. */
const DATA_ADDRESS = /^data:[a-z]+\/[\w.+-]+(?:;[^\s,;]+)*,/i
/** Members that a provider reads as text, whatever they begin with. */
const TEXT_MEMBERS = new Set(['text', 'content', 'output', 'thinking', 'system', 'instructions', 'arguments'])
const ADDRESS_MEMBERS = new Set(['url', 'image_url', 'file_url'])
const READ_BY_PROVIDER = new Set(['image', 'document', 'file', 'url', 'input_image', 'input_file', 'image_url'])
/** Elsewhere an address names a server, not a part of the conversation. */
const CONTENT_FIELDS = new Set(['messages', 'input', 'system'])
const TEXT_TYPES = /^text\//

/** Returns why a text of the request is not read; `undefined` for a text that is. */
export function unreadAt(text: string, { path, parent, kind }: TextPlace): Unread | undefined {
  const member = path.at(-1)
  if (kind !== 'string' || typeof member !== 'string' || Array.isArray(parent) || isData(path)) return undefined
  // Safe: an array was excluded just above.
  const holder = parent as Readonly<Record<string, unknown>>
  const isContent = CONTENT_FIELDS.has(String(path[0]))
  if (isContent && OWN_MEMBERS.test(member)) return OWN
  if (member === 'thinking' && typeof holder.signature === 'string' && holder.signature !== '') return OWN
  if (member === 'data') return unreadData(holder)
  if (FILE_MEMBERS.test(member)) return { kind: 'foreign', what: 'file' }
  if (DATA_ADDRESS.test(text) && !TEXT_MEMBERS.has(member)) return { kind: 'foreign', what: 'picture' }
  if (isContent && ADDRESS_MEMBERS.has(member) && isReadByProvider(holder, path))
    return { kind: 'foreign', what: 'address' }
  return undefined
}

/** Arguments of tools and schemas are data of the client: a member `data` or `url` there is text. */
function isData(path: TextPlace['path']): boolean {
  return (
    path.some((step) => step === 'input' || step === 'input_schema' || step === 'parameters') && path[0] !== 'input'
  )
}

function unreadData(holder: Readonly<Record<string, unknown>>): Unread | undefined {
  if (holder.type === 'redacted_thinking') return OWN
  if (holder.type === 'text' || TEXT_TYPES.test(String(holder.media_type ?? ''))) return undefined
  if (holder.type === 'base64')
    return { kind: 'foreign', what: holder.media_type === 'application/pdf' ? 'PDF' : 'picture' }
  return 'format' in holder ? { kind: 'foreign', what: 'sound' } : undefined
}

function isReadByProvider(holder: Readonly<Record<string, unknown>>, path: TextPlace['path']): boolean {
  return READ_BY_PROVIDER.has(String(holder.type)) || path.at(-2) === 'image_url'
}

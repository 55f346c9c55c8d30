import { createHash } from 'node:crypto'
import type { Exchange, RequestDocument } from 'turnpike/plugin'
import { children } from 'turnpike/plugin/bytes'
import type { Outline, Place, Prefix } from './outline.ts'

/** Blocks that may carry a mark; thinking may not. */
const MARKABLE: ReadonlySet<string> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result'])
/** Fields besides tools and system that decide whether messages are found in the cache. */
const SETTINGS = ['tool_choice', 'thinking', 'output_config', 'speed']
/** A larger message with media counts for so many bytes: base64 has no fixed ratio to tokens. */
const MEDIA_BYTES = 16_384
const OPEN_BRACKET = '['.charCodeAt(0)
const QUOTE = '"'.charCodeAt(0)
const NOTHING = Buffer.alloc(0)

type Preserved = Exchange['preserved']

/** Returns the outline of a request; its tokens are estimated from bytes. */
export function outlineOf(request: RequestDocument, preserved: Preserved, bytesPerToken: number): Outline {
  const { messages: ranges } = request.shape
  const isKept = (...path: (string | number)[]) =>
    preserved.some((text) => text.path.length <= path.length && text.path.every((step, index) => step === path[index]))
  const shared = sharedPrefixes(request, bytesPerToken).filter(({ place: { kind } }) => !isKept(kind))
  const last = ranges.length === 0 ? undefined : request.message(ranges.length - 1).content
  const isResult = Array.isArray(last) && last.some(({ type }) => type === 'tool_result')
  return {
    shared,
    count: ranges.length,
    turn: isResult ? 'result' : 'text',
    depth: Math.floor(ranges.length / 2),
    prefixes: (counts) => prefixesOf(request, counts, bytesPerToken),
    placeIn: (index) => (isKept('messages', index) ? undefined : placeIn(request, index)),
  }
}

function sharedPrefixes(request: RequestDocument, bytesPerToken: number): Outline['shared'] {
  const [tools, system] = [request.raw('tools') ?? NOTHING, request.raw('system') ?? NOTHING]
  const prefix = (...parts: Buffer[]) => ({
    tokens: Math.floor(parts.reduce((sum, { length }) => sum + length, 0) / bytesPerToken),
    digest: parts.reduce((hash, part) => hash.update(part), createHash('sha1')).digest('base64url'),
  })
  const found: Outline['shared'][number][] = []
  // The API refuses a mark on a deferred tool, which is no part of the prefix.
  if (isFilled(tools) && !tools.includes('"defer_loading"')) found.push({ ...prefix(tools), place: { kind: 'tools' } })
  if (isFilled(system) && endsWithText(request.field('system')))
    found.push({ ...prefix(tools, system), place: { kind: 'system' } })
  return found
}

/** Returns true for a list with elements, or for a text. */
function isFilled(raw: Buffer): boolean {
  return (raw[0] === OPEN_BRACKET || raw[0] === QUOTE) && /[^\s[\]"]/.test(raw.toString('latin1', 0, 64))
}

/** Tests that the last block of a system, or its only text, is not blank: the API refuses a mark on a blank one. */
function endsWithText(system: unknown): boolean {
  const last: unknown = Array.isArray(system) ? system.at(-1)?.text : system
  return typeof last === 'string' && isText(last)
}

function isText(text: string): boolean {
  return /\S/.test(text)
}

function prefixesOf(request: RequestDocument, counts: readonly number[], bytesPerToken: number): Prefix[] {
  const { bytes, shape } = request
  const hash = createHash('sha1')
  let size = 0
  for (const name of ['tools', 'system', ...SETTINGS]) {
    const raw = request.raw(name) ?? NOTHING
    hash.update(raw).update(',')
    if (!SETTINGS.includes(name)) size += raw.length
  }
  let done = 0
  return counts.map((count) => {
    for (const { start, end } of shape.messages.slice(done, count)) {
      const message = bytes.subarray(start, end)
      hash.update(message)
      size += sizeOf(message, shape.isText)
    }
    done = count
    return { tokens: Math.floor(size / bytesPerToken), digest: hash.copy().digest('base64url') }
  })
}

function sizeOf(message: Buffer, isText: boolean): number {
  if (isText || message.length <= MEDIA_BYTES || !message.includes('"base64"')) return message.length
  return MEDIA_BYTES
}

function placeIn(request: RequestDocument, index: number): Place | undefined {
  const { role, content } = request.message(index)
  if (role === 'system') return undefined
  if (typeof content === 'string') return isText(content) ? { kind: 'message', index, block: undefined } : undefined
  const block = content.findLastIndex(
    (one) => MARKABLE.has(one.type) && (one.type !== 'text' || isText(String(one.text))),
  )
  return block < 0 ? undefined : { kind: 'message', index, block }
}

/** Returns the number of elements of a list. */
export function lengthOf(list: Buffer): number {
  return children(list.toString('latin1'), 0).length
}

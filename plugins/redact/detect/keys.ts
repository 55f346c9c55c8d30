import { classOf, WORD } from './characters.ts'
import type { Finding, Kind } from './finding.ts'
import { KEY_FORMATS, type KeyFormat } from './key-formats.ts'

interface Compiled {
  readonly kind: Kind
  readonly prefix: string
  readonly rest: RegExp
}

const ASCII_BITS = 7
const ASCII_MASK = 127
/** A random key has digits and letters; a name of the same form mostly has not. */
const HAS_DIGIT = /\d/

/** Index of formats by their first two characters; a format that begins with a digit is tried at each number. */
const FORMATS: readonly (readonly Compiled[] | undefined)[] = indexFormats()

function indexFormats(): (readonly Compiled[] | undefined)[] {
  const index: Compiled[][] = []
  for (const format of KEY_FORMATS)
    for (const slot of slotsOf(format)) {
      index[slot] ??= []
      index[slot].push(compiled(format))
    }
  return Array.from({ length: 1 << (2 * ASCII_BITS) }, (_, slot) => index[slot])
}

function slotsOf({ prefix }: KeyFormat): number[] {
  if (prefix.length >= 2) return [slotOf(prefix.charCodeAt(0), prefix.charCodeAt(1))]
  if (prefix === '1') return [slotOf(prefix.charCodeAt(0), '/'.charCodeAt(0))]
  const digits = Array.from('0123456789', (digit) => digit.charCodeAt(0))
  return digits.flatMap((first) => digits.map((second) => slotOf(first, second)))
}

function compiled({ kind, prefix, rest }: KeyFormat): Compiled {
  return { kind, prefix, rest: new RegExp(`${rest}(?![A-Za-z0-9_-])`, 'y') }
}

function slotOf(first: number, second: number): number {
  return ((first & ASCII_MASK) << ASCII_BITS) | (second & ASCII_MASK)
}

/** Returns the key or token of a published format that begins at `start`, the beginning of a word. */
export function keyAt(text: string, start: number): Finding | undefined {
  const formats = FORMATS[slotOf(text.charCodeAt(start), text.charCodeAt(start + 1))]
  if (formats === undefined) return undefined
  for (const { kind, prefix, rest } of formats) {
    if (!text.startsWith(prefix, start)) continue
    rest.lastIndex = start + prefix.length
    const found = rest.exec(text)
    if (found === null || !HAS_DIGIT.test(found[0])) continue
    return { start, end: rest.lastIndex, kind }
  }
  return undefined
}

/** Returns the JSON Web Token (RFC 7519, signed) that begins at `start`: each of its parts is read once. */
export function jwtAt(text: string, start: number): Finding | undefined {
  const headerEnd = wordEnd(text, start)
  if (headerEnd - start < 12 || !text.startsWith('.eyJ', headerEnd)) return undefined
  const payloadEnd = wordEnd(text, headerEnd + 1)
  if (text[payloadEnd] !== '.') return undefined
  const end = wordEnd(text, payloadEnd + 1)
  return end - payloadEnd > 20 ? { start, end, kind: 'jwt' } : undefined
}

function wordEnd(text: string, from: number): number {
  let at = from
  while ((classOf(text.charCodeAt(at)) & WORD) !== 0) at++
  return at
}

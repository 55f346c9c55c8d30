/**
 * DESIGN — cuts out long texts while a request is translated
 *
 * Most of a large request is a few long texts, and a JSON string is the same in every dialect. Parsing and printing them
 * costs more than the rest of a relay. So they are cut out of the body, a short mark in the place of each; what is left
 * is translated as any body is, and in the result each mark is replaced by the bytes it represents.
 *
 *     {"role":"user","content":"Very long …"}  ──►  {"role":"user","content":"⟨3⟩"}  ──► translate ──► put back
 *
 * Guarantees
 * - The text in the result is the client's, byte for byte, escapes included.
 * - No client can write a mark: it holds 128 random bits of this process.
 * - A translator may move, join, copy or drop a text. It may not measure it or look into it, so texts that could matter
 *   stay: those that are not long, that may be blank, or that begin with `Error`.
 * Limits: only values of `text` and `content` are cut out, and none inside a tool's `input`, which becomes a string in a
 * string elsewhere. Small bodies are left alone.
 */
import { randomBytes } from 'node:crypto'
import { skipString } from '../json/scan-string.ts'
import { type Range, skipColon, skipSpace, skipValue } from '../json/scan-value.ts'
import { RequestDocument } from './request.ts'

/** The body to translate in place of a request, and the way back. */
export interface Outline {
  readonly document: RequestDocument
  /** Replaces the marks by their texts. */
  restore(translated: Buffer): Buffer
}

const SMALL_BODY_BYTES = 4 * 1024
const LONG_TEXT_BYTES = 160
const NONCE = `text-${randomBytes(16).toString('hex')}-`
const NONCE_BYTES = Buffer.from(NONCE)
const MARK_END = 0x2e
const DIGIT_ZERO = 0x30
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const DEPTH_OF_INPUT = 6
/** Bytes of a text's beginning that are checked. */
const BEGINNING = 64
/** The last one may be cut. */
const ESCAPED_SPACE = /\\(?:[nrt]|$)/g

/** The content of a string: a range of the body's bytes. */
type Text = Range

/** Creates the outline of a request whose body has been scanned: it is known to be JSON. */
export function outlineOf(document: RequestDocument): Outline {
  const { bytes } = document
  const text = bytes.length < SMALL_BODY_BYTES ? '' : bytes.toString('latin1')
  const texts = findLongTexts(text)
  if (texts.length === 0) return { document, restore: (translated) => translated }
  let outline = ''
  let from = 0
  for (const [index, { start, end }] of texts.entries()) {
    outline += `${text.slice(from, start)}${NONCE}${index}.`
    from = end
  }
  outline += text.slice(from)
  return {
    document: new RequestDocument(Buffer.from(outline, 'latin1')),
    restore: (translated) => putBack(translated, bytes, texts),
  }
}

/** Finds the strings that may be cut out, by the key before each. */
function findLongTexts(text: string): Text[] {
  const found: Text[] = []
  let isText = false
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = skipString(text, at)
    if (text.charCodeAt(skipSpace(text, end)) === COLON) {
      // An escaped key could be the key of an input.
      if (text.slice(at, end).includes('\\')) return []
      isText = isKey(text, at, '"text"') || isKey(text, at, '"content"')
      at = isKey(text, at, '"input"') ? endOfInput(text, end) : end
      continue
    }
    if (isText && end - at > LONG_TEXT_BYTES && isOrdinary(text, at + 1)) found.push({ start: at + 1, end: end - 1 })
    isText = false
    at = end
  }
  return found
}

function isKey(text: string, at: number, quoted: string): boolean {
  return text.startsWith(quoted, at)
}

/** Returns the offset after an input that is an object, or after the key of any other. */
function endOfInput(text: string, keyEnd: number): number {
  const start = skipColon(text, keyEnd)
  return text.charCodeAt(start) === OPEN_BRACE ? skipValue(text, start, DEPTH_OF_INPUT) : keyEnd
}

function isOrdinary(text: string, start: number): boolean {
  const beginning = text
    .slice(start, start + BEGINNING)
    .replaceAll(ESCAPED_SPACE, '')
    .trim()
  return beginning !== '' && !beginning.startsWith('Error')
}

function putBack(translated: Buffer, original: Buffer, texts: readonly Text[]): Buffer {
  const marks = findMarks(translated)
  const textAt = ({ index }: Mark): Text => texts[index] ?? NO_TEXT
  const size = marks.reduce(
    (sum, mark) => sum + textAt(mark).end - textAt(mark).start - (mark.end - mark.start),
    translated.length,
  )
  const whole = Buffer.allocUnsafe(size)
  let from = 0
  let to = 0
  for (const mark of marks) {
    to += translated.copy(whole, to, from, mark.start)
    const { start, end } = textAt(mark)
    to += original.copy(whole, to, start, end)
    from = mark.end
  }
  translated.copy(whole, to, from)
  return whole
}

interface Mark extends Range {
  readonly index: number
}

const NO_TEXT: Text = { start: 0, end: 0 }

function findMarks(translated: Buffer): Mark[] {
  const marks: Mark[] = []
  for (let start = translated.indexOf(NONCE_BYTES); start !== -1; ) {
    let index = 0
    let at = start + NONCE_BYTES.length
    for (; translated[at] !== MARK_END; at++) index = index * 10 + (translated[at] ?? 0) - DIGIT_ZERO
    marks.push({ start, end: at + 1, index })
    start = translated.indexOf(NONCE_BYTES, at)
  }
  return marks
}

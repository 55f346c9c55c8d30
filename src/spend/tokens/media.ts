/**
 * DESIGN: media in a request.
 *
 * Media of a known kind count by their size: images by their pixels, PDFs by their pages, audio by its length. References
 * (an address, the id of a file) count by the ceiling of an image, or as one page. Any other file counts as
 * the text of its base64, which is never less than a provider could read from it as text.
 */
import type { Range } from '../../core/json/scan.ts'
import { audioTokens, isPdf, pdfTokens, sizeOfBase64 } from './attachments.ts'
import { unitsOfText } from './text-units.ts'
import type { Weigher } from './weigher.ts'

/** Longest address of a file that does not count as text, in bytes. */
const ADDRESS_BYTES = 2048
const TEXT_TYPE = /^data:text\/[\w.+-]+(?:;[^;,]+)*?;base64,/i
const IMAGE_TYPE = /^data:image\/[\w.+-]+(?:;[^;,]+)*?;base64,/i
const PDF_TYPE = /^data:application\/pdf(?:;[^;,]+)*?;base64,/i
const LONGEST_HEAD = 256
const ADDRESS = /^https?:/i

/** Adds an image: a JSON string of base64. */
export function addImage(weigher: Weigher, base64: Range): void {
  const { parts } = weigher
  parts.isPlain = false
  parts.images.push(sizeOfBase64(insideOf(weigher, base64)))
}

/** Adds a PDF by its pages, and any other base64 as text. */
export function addPdf(weigher: Weigher, base64: Range): void {
  const bytes = insideOf(weigher, base64)
  weigher.parts.isPlain = false
  if (isPdf(bytes)) weigher.parts.documentTokens += pdfTokens(bytes)
  else weigher.add(base64)
}

/** Adds an image or a document given by reference. */
export function addReference(weigher: Weigher, name: Range, type: string): void {
  const { parts } = weigher
  parts.isPlain = false
  if (type === 'image') parts.images.push(undefined)
  else parts.documentTokens += pdfTokens(Buffer.alloc(0))
  weigher.addMark(name, ADDRESS_BYTES)
}

/** Adds a file that is a data URI, an address, or else text. */
export function addUri(weigher: Weigher, uri: Range, type: 'image' | 'document'): void {
  const head = weigher.text.slice(uri.start + 1, Math.min(uri.end - 1, uri.start + 1 + LONGEST_HEAD))
  const inside = (pattern: RegExp): Range | undefined => {
    const length = pattern.exec(head)?.[0].length
    return length === undefined ? undefined : { start: uri.start + length, end: uri.end }
  }
  const image = type === 'image' ? inside(IMAGE_TYPE) : undefined
  const pdf = type === 'document' ? inside(PDF_TYPE) : undefined
  const text = inside(TEXT_TYPE)
  if (image) addImage(weigher, image)
  else if (pdf) addPdf(weigher, pdf)
  else if (text) addDecoded(weigher, text)
  else if (ADDRESS.test(head)) addReference(weigher, uri, type)
  else weigher.add(uri)
}

/** Adds audio by its length: a JSON string of base64. */
export function addAudio(weigher: Weigher, base64: Range): void {
  weigher.parts.isPlain = false
  weigher.parts.documentTokens += audioTokens(insideOf(weigher, base64))
}

/** Adds the decoded text of base64; invalid base64 counts as written. */
function addDecoded(weigher: Weigher, base64: Range): void {
  const inside = insideOf(weigher, base64)
  const decoded = Buffer.from(inside.toString('latin1'), 'base64')
  if (decoded.length >= Math.floor((inside.length * 3) / 4) - 2) weigher.parts.units += unitsOfText(decoded)
  else weigher.add(base64)
}

/** Returns the bytes between the quotes of a string, or after the head of a data URI. */
function insideOf({ bytes }: Weigher, { start, end }: Range): Buffer {
  return bytes.subarray(start + 1, end - 1)
}

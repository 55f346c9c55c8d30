/**
 * DESIGN: tokens of images and documents, from the first bytes of their base64.
 *
 * - An image counts for Claude by its size, for other models as in `image-rules.ts` (Anthropic's documentation, Vision,
 *   "Calculate image costs"): scaled down to the model's bounds of edge and cost, then a token for each square of 28 pixels. Unknown: the model's maximum.
 * - A page of a PDF counts as its text, 1,500 to 3,000 tokens (Anthropic's documentation, PDF support, "Estimate your costs"),
 *   and its image. 3,000 are assumed for both; the pages are counted by their marks in the first 256 KB and extrapolated,
 *   and where there are no marks, as in compressed files, a page is 50 KB. Unknown: one page.
 * - Audio counts by its length: 10 to 32 tokens a second (OpenAI's documentation, Audio; Gemini's, Token counting), at up
 *   to 16 times the price of text. 32 and 16 are assumed. A WAV file contains its bytes per second; for another
 *   format it is 2,000, the lowest usual rate for speech.
 */
import { HEADER_BYTES, type ImageSize, imageSizeOf } from './image-size.ts'

/** A model's limits for an image. */
export interface ImageLimits {
  readonly longEdge: number
  readonly tokens: number
}

/** Tokens of a page of a PDF: its text and its image. */
const PAGE_TOKENS = 3000

const SQUARE = 28
const PAGE_BYTES = 50_000
const SAMPLE_BYTES = 256 * 1024
/** Anthropic's bound for one request. */
const MOST_PAGES = 600
const PDF_HEAD_BYTES = 1024
const WAV_HEAD_BYTES = 44
const AUDIO_TOKENS_PER_SECOND = 32
const AUDIO_PRICE_FACTOR = 16
const AUDIO_BYTES_PER_SECOND = 2000
/** Matches `/Type /Page`, and not `/Pages`, of which there is one for many. */
const PAGE_MARK = /\/Type\s*\/Page(?!s)/g

/** Returns the size of an image in base64, possibly with escapes like `\/`; `undefined` when its header is unknown. */
export function sizeOfBase64(base64: Buffer): ImageSize | undefined {
  return imageSizeOf(decodeStart(base64, HEADER_BYTES))
}

/** Returns the tokens of an image for a model. */
export function imageTokens(size: ImageSize | undefined, limits: ImageLimits): number {
  if (size === undefined) return limits.tokens
  const scale = Math.min(1, limits.longEdge / Math.max(size.width, size.height))
  const width = size.width * scale
  const height = size.height * scale
  const squares = Math.ceil(width / SQUARE) * Math.ceil(height / SQUARE)
  return Math.max(1, Math.min(squares, limits.tokens))
}

/** Returns true when a file in base64 begins like a PDF; readers accept some bytes before its mark. */
export function isPdf(base64: Buffer): boolean {
  return decodeStart(base64, PDF_HEAD_BYTES).includes('%PDF')
}

/** Returns the tokens of audio in base64, as text tokens of the same price. */
export function audioTokens(base64: Buffer): number {
  const bytes = (base64.length * 3) / 4
  const seconds = bytes / bytesPerSecond(decodeStart(base64, WAV_HEAD_BYTES))
  return Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND * AUDIO_PRICE_FACTOR)
}

function bytesPerSecond(head: Buffer): number {
  const isWav = head.length >= WAV_HEAD_BYTES && head.toString('latin1', 0, 4) === 'RIFF'
  return isWav ? Math.max(1, head.readUInt32LE(28)) : AUDIO_BYTES_PER_SECOND
}

/** Returns the tokens of a PDF in base64. */
export function pdfTokens(base64: Buffer): number {
  const bytes = (base64.length * 3) / 4
  const sample = decodeStart(base64, SAMPLE_BYTES)
  const marks = sample.toString('latin1').match(PAGE_MARK)?.length ?? 0
  const pages = marks > 0 ? (marks * bytes) / Math.max(1, sample.length) : bytes / PAGE_BYTES
  return PAGE_TOKENS * Math.max(1, Math.min(MOST_PAGES, Math.round(pages)))
}

function decodeStart(base64: Buffer, bytes: number): Buffer {
  return Buffer.from(base64.toString('latin1', 0, Math.ceil(bytes / 3) * 4), 'base64')
}

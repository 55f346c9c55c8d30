import type { Range } from '../../core/json/scan-value.ts'
import { OPEN_BRACE, skipValue } from '../../core/json/scan-value.ts'
import type { FingerprintOf } from './fingerprint.ts'
import { type Source, walkObject } from './walk.ts'

/** Members that mark a block for the prompt cache: of the Messages API, and of OpenAI's from GPT-5.6. */
const MARKS: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])
const MINUTE_MS = 60_000
const SHORT_MS = 5 * MINUTE_MS
const LONG_MS = 60 * MINUTE_MS
const OPENAI_MS = 30 * MINUTE_MS
const LONG = '"1h"'

/** Types of blocks that are nothing but text, in all APIs; Gemini's parts have no type. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['', 'text', 'input_text', 'output_text'])
const MEDIA: ReadonlySet<string> = new Set([
  'image',
  'image_url',
  'input_image',
  'document',
  'file',
  'input_file',
  'input_audio',
])
/** Weight of an image or a file, in bytes of text: its bytes have nothing to do with its tokens. */
const MEDIA_WEIGHT = 6000
const KINDS: ReadonlyMap<string, string> = new Map(
  [
    ...['text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'image', 'document', 'search_result'],
    ...['server_tool_use', 'web_search_tool_result', 'compaction', 'input_text', 'output_text', 'image_url'],
  ].map((kind) => [kind, kind]),
)
const PREFIX = Buffer.from('text')

/** One block of a prompt. */
export interface ReadBlock extends Range {
  /** Its type, or `other`. */
  readonly kind: string
  readonly weight: number
  /** Lifetime of its mark; `undefined` without one. */
  readonly markMs: number | undefined
  /** Place of its text as a JSON string; `undefined` for a block of another kind. */
  readonly text: Range | undefined
}

interface Found {
  type: string
  text: Range | undefined
  mark: (Range & { readonly lifetimeMs: number | undefined }) | undefined
  others: number
}

/** Reads the block at byte `start`, and adds its content to `fingerprint`, without its mark. Throws `ScanError`. */
export function readBlock({ bytes, text }: Source, start: number, fingerprint: FingerprintOf): ReadBlock {
  const found: Found = { type: '', text: undefined, mark: undefined, others: 0 }
  if (text.charCodeAt(start) !== OPEN_BRACE) {
    const end = skipValue(text, start, 2)
    fingerprint.add(bytes.subarray(start, end))
    return { start, end, kind: 'other', weight: end - start, markMs: undefined, text: undefined }
  }
  const end = walkObject(text, start, ({ name, keyStart, start: valueStart }) => {
    const valueEnd = skipValue(text, valueStart, 3)
    if (name === 'type') found.type = text.slice(valueStart + 1, valueEnd - 1)
    else if (name === 'text') found.text = { start: valueStart, end: valueEnd }
    else if (MARKS.has(name)) found.mark = readMark(text, { name, keyStart, start: valueStart, end: valueEnd })
    else found.others++
    return valueEnd
  })
  const isText = found.others === 0 && found.text !== undefined && TEXT_TYPES.has(found.type)
  if (isText)
    addText(bytes, found.text as Range, fingerprint) // safe: checked in the line before
  else addWithout(bytes, { start, end }, { cut: found.mark, fingerprint })
  return {
    start,
    end,
    kind: KINDS.get(found.type) ?? (isText ? 'text' : 'other'),
    weight: MEDIA.has(found.type) ? Math.min(end - start, MEDIA_WEIGHT) : end - start,
    markMs: found.mark?.lifetimeMs,
    text: isText ? found.text : undefined,
  }
}

/** Adds a text by its JSON string: a string content counts as its only text block. */
export function addText(bytes: Buffer, { start, end }: Range, fingerprint: FingerprintOf): void {
  fingerprint.add(PREFIX)
  fingerprint.add(bytes.subarray(start, end))
}

/** Adds the bytes of an object without those of one member and a comma. */
function addWithout(
  bytes: Buffer,
  { start, end }: Range,
  { cut, fingerprint }: { cut: Range | undefined; fingerprint: FingerprintOf },
): void {
  if (cut === undefined) {
    fingerprint.add(bytes.subarray(start, end))
    return
  }
  const isFirst = cut.start === start + 1
  const from = isFirst ? cut.start : bytes.lastIndexOf(COMMA, cut.start)
  fingerprint.add(bytes.subarray(start, from))
  fingerprint.add(bytes.subarray(isFirst && bytes[cut.end] === COMMA ? cut.end + 1 : cut.end, end))
}

const COMMA = 44

/** Reads a mark's lifetime; its range begins at its key. `null` is no mark. */
export function readMark(
  text: string,
  { name, keyStart, start, end }: Range & { readonly name: string; readonly keyStart: number },
): Range & { readonly lifetimeMs: number | undefined } {
  const value = text.slice(start, end)
  const explicitMs = value.includes(LONG) ? LONG_MS : SHORT_MS
  const lifetimeMs = name === 'cache_control' ? explicitMs : OPENAI_MS
  return { start: keyStart, end, lifetimeMs: value === 'null' ? undefined : lifetimeMs }
}

/** Returns whether a member marks its block for the prompt cache. */
export function isMark(name: string): boolean {
  return MARKS.has(name)
}

import { OPEN_BRACE, OPEN_BRACKET, type Range, skipValue } from '../../core/json/scan-value.ts'
import type { Fingerprint, Mark, ToolDigest, ToolsDigest } from './digest.ts'
import { FingerprintOf, fingerprintOf } from './fingerprint.ts'
import { isMark, readMark } from './read-block.ts'
import { type Source, walkArray, walkObject } from './walk.ts'

export const NO_TOOLS: ToolsDigest = { whole: 0, tools: [], marks: [], weight: 0 }

const LONGEST_NAME = 64
/** Members that contain the tool itself: of chat completions, and of Gemini, where one entry has several. */
const WRAPPERS: ReadonlySet<string> = new Set(['function', 'functionDeclarations', 'function_declarations'])

/**
 * Reads the list of tools at `range`. Tools that are loaded later (`defer_loading`) are no part of the prefix. Throws
 * `ScanError`.
 */
export function readTools(source: Source, range: Range): ToolsDigest {
  const whole = fingerprintOf(source.bytes.subarray(range.start, range.end))
  const tools: ToolDigest[] = []
  const marks: Mark[] = []
  if (source.text.charCodeAt(range.start) === OPEN_BRACKET)
    walkArray(source.text, range.start, (start) => readEntry(source, start, { tools, marks }))
  return { whole, tools, marks, weight: range.end - range.start }
}

interface Lists {
  readonly tools: ToolDigest[]
  readonly marks: Mark[]
}

interface Found {
  name: string
  description: Fingerprint
  readonly rest: FingerprintOf
  isDeferred: boolean
  markMs: number | undefined
}

function readEntry(source: Source, start: number, { tools, marks }: Lists): number {
  const found: Found = { name: '', description: 0, rest: new FingerprintOf(), isDeferred: false, markMs: undefined }
  const before = tools.length
  const end = readMembers(source, start, { found, tools })
  if (found.isDeferred) return end
  if (tools.length === before || found.name !== '') tools.push(toolOf(found))
  if (found.markMs !== undefined) marks.push({ block: tools.length - 1, lifetimeMs: found.markMs })
  return end
}

function toolOf({ name, description, rest }: Found): ToolDigest {
  return { name, description, rest: rest.value }
}

function readMembers(source: Source, start: number, into: { found: Found; tools: ToolDigest[] }): number {
  const { bytes, text } = source
  const { found, tools } = into
  if (text.charCodeAt(start) !== OPEN_BRACE) return skipValue(text, start, 2)
  return walkObject(text, start, ({ name, keyStart, start: valueStart }) => {
    const first = text.charCodeAt(valueStart)
    if (WRAPPERS.has(name) && first === OPEN_BRACE) return readMembers(source, valueStart, into)
    if (WRAPPERS.has(name) && first === OPEN_BRACKET)
      return walkArray(text, valueStart, (tool) => readEntry(source, tool, { tools, marks: [] }))
    const end = skipValue(text, valueStart, 3)
    if (name === 'name') found.name = nameAt(bytes, { start: valueStart, end })
    else if (name === 'description') found.description = fingerprintOf(bytes.subarray(valueStart, end))
    else if (isMark(name)) found.markMs = readMark(text, { name, keyStart, start: valueStart, end }).lifetimeMs
    else {
      if (name === 'defer_loading') found.isDeferred = text.startsWith('true', valueStart)
      found.rest.add(bytes.subarray(keyStart, end))
    }
    return end
  })
}

/** Copies a name; a slice of the source would keep all of it alive. */
function nameAt(bytes: Buffer, { start, end }: Range): string {
  return bytes.toString('utf8', start + 1, Math.min(end - 1, start + 1 + LONGEST_NAME))
}

import { QUOTE } from '../../core/json/scan-string.ts'
import { OPEN_BRACE, OPEN_BRACKET, type Range } from '../../core/json/scan-value.ts'
import { chunksOf } from './chunks.ts'
import type { Mark, SystemBlock, SystemDigest } from './digest.ts'
import { FingerprintOf } from './fingerprint.ts'
import { addText, readBlock } from './read-block.ts'
import { type Source, walkArray, walkObject } from './walk.ts'

export const NO_SYSTEM: SystemDigest = { blocks: [], marks: [], weight: 0 }

const NO_CHUNKS = new Uint32Array(0)

/** A system text while it is read. */
export interface SystemParts {
  readonly blocks: SystemBlock[]
  readonly marks: Mark[]
  weight: number
}

/** Creates the parts of a system text that is still to be read. */
export function noParts(): SystemParts {
  return { blocks: [], marks: [], weight: 0 }
}

/**
 * Adds the system text at byte `start`: a string, blocks, or Gemini's `{parts}`. The chunks of a block that is `known` are
 * not computed again. Throws `ScanError`.
 */
export function addSystem(
  source: Source,
  { start, end }: Range,
  into: { readonly parts: SystemParts; readonly known: readonly SystemDigest[] },
): void {
  const { parts } = into
  parts.weight += end - start
  const first = source.text.charCodeAt(start)
  if (first === QUOTE) addString(source, { start, end }, into)
  else if (first === OPEN_BRACKET) walkArray(source.text, start, (block) => addBlock(source, block, into))
  else if (first === OPEN_BRACE) {
    walkObject(source.text, start, ({ start: value }) =>
      source.text.charCodeAt(value) === OPEN_BRACKET
        ? walkArray(source.text, value, (block) => addBlock(source, block, into))
        : readBlock(source, value, new FingerprintOf()).end,
    )
  }
}

interface Into {
  readonly parts: SystemParts
  readonly known: readonly SystemDigest[]
}

function addString(source: Source, place: Range, { parts, known }: Into): void {
  const fingerprint = new FingerprintOf()
  addText(source.bytes, place, fingerprint)
  parts.blocks.push(blockOf(source, { fingerprint: fingerprint.value, place, isText: true }, known))
}

function addBlock(source: Source, start: number, { parts, known }: Into): number {
  const fingerprint = new FingerprintOf()
  const block = readBlock(source, start, fingerprint)
  const place = block.text ?? { start: block.start, end: block.end }
  const isText = block.text !== undefined
  parts.blocks.push(blockOf(source, { fingerprint: fingerprint.value, place, isText }, known))
  if (block.markMs !== undefined) parts.marks.push({ block: parts.blocks.length - 1, lifetimeMs: block.markMs })
  return block.end
}

function blockOf(
  { bytes }: Source,
  { fingerprint, place, isText }: { fingerprint: number; place: Range; isText: boolean },
  known: readonly SystemDigest[],
): SystemBlock {
  for (const { blocks } of known) {
    const same = blocks.find((block) => block.fingerprint === fingerprint)
    if (same !== undefined) return { ...same, place }
  }
  return { fingerprint, place, chunks: isText ? chunksOf(textAt(bytes, place)) : NO_CHUNKS }
}

/** Returns the text of the JSON string at a place of the body. */
export function textAt(bytes: Buffer, { start, end }: Range): string {
  try {
    return String(JSON.parse(bytes.toString('utf8', start, end)))
  } catch {
    return bytes.toString('utf8', start, end)
  }
}

import { QUOTE } from '../../core/json/scan-string.ts'
import { OPEN_BRACE, OPEN_BRACKET, skipValue } from '../../core/json/scan-value.ts'
import type { Fingerprint, Mark, MessagesDigest } from './digest.ts'
import { endOfSame, FingerprintOf, fingerprintOf } from './fingerprint.ts'
import { addText, readBlock } from './read-block.ts'
import { type Source, walkArray, walkObject } from './walk.ts'

const ROLES: ReadonlyMap<string, string> = new Map(
  ['user', 'assistant', 'system', 'developer', 'tool', 'model', 'function'].map((role) => [role, role]),
)

/** Messages while they are read. */
export interface MessageParts {
  readonly fingerprints: Fingerprint[]
  readonly raws: Fingerprint[]
  readonly blocksOf: number[]
  readonly weights: number[]
  readonly kinds: string[]
  /** Marks by number of the block, from the first block of the messages. */
  readonly marks: Mark[]
  blocks: number
}

/** Creates the parts of messages that are still to be read. */
export function noMessageParts(): MessageParts {
  return { fingerprints: [], raws: [], blocksOf: [], weights: [], kinds: [], marks: [], blocks: 0 }
}

/** Returns the digest of the messages that were read. */
export function messagesOf({ fingerprints, raws, blocksOf, weights, kinds }: MessageParts): MessagesDigest {
  return {
    fingerprints: Float64Array.from(fingerprints),
    raws: Float64Array.from(raws),
    blocks: Uint32Array.from(blocksOf),
    weights: Uint32Array.from(weights),
    kinds,
  }
}

interface Found {
  role: string
  kind: string
  weight: number
  readonly fingerprint: FingerprintOf
}

/**
 * Adds the message, Gemini content or item of Responses at byte `start`. Returns the offset after it. Throws `ScanError`.
 */
export function addMessage(source: Source, start: number, parts: MessageParts): number {
  const { text, bytes } = source
  const found: Found = { role: '', kind: '', weight: 0, fingerprint: new FingerprintOf() }
  const blocksBefore = parts.blocks
  const marksBefore = parts.marks.length
  const add = ({ name, keyStart, start: valueStart }: { name: string; keyStart: number; start: number }): number => {
    const first = text.charCodeAt(valueStart)
    if ((name === 'content' || name === 'parts') && first === OPEN_BRACKET)
      return walkArray(text, valueStart, (block) => addBlock(source, block, { found, parts }))
    const end = skipValue(text, valueStart, 2)
    if (name === 'content' && first === QUOTE) {
      addText(bytes, { start: valueStart, end }, found.fingerprint)
      found.kind ||= 'text'
    } else found.fingerprint.add(bytes.subarray(keyStart, end))
    if (name === 'role') found.role = ROLES.get(text.slice(valueStart + 1, end - 1)) ?? 'other'
    else if (name === 'type') found.kind ||= text.slice(valueStart + 1, Math.min(end - 1, valueStart + 13))
    found.weight += end - valueStart
    return end
  }
  const isObject = text.charCodeAt(start) === OPEN_BRACE
  const end = isObject ? walkObject(text, start, add) : skipValue(text, start, 1)
  if (!isObject) addText(bytes, { start, end }, found.fingerprint)
  if (parts.blocks === blocksBefore) parts.blocks++
  parts.blocksOf.push(parts.blocks - blocksBefore)
  parts.raws.push(parts.marks.length > marksBefore ? 0 : fingerprintOf(bytes.subarray(start, end)))
  parts.fingerprints.push(found.fingerprint.value)
  parts.weights.push(found.weight || end - start)
  parts.kinds.push(kindOf(found))
  return end
}

/**
 * Adds the message at byte `start` from the digest that has the same bytes at its place, and returns the offset after it; -1
 * for a message that must be read.
 */
export function addSame(
  { bytes }: Source,
  start: number,
  { parts, known }: { parts: MessageParts; known: MessagesDigest },
): number {
  const index = parts.fingerprints.length
  const raw = known.raws[index] ?? 0
  const end = endOfSame(bytes, start, raw)
  if (end < 0) return end
  parts.raws.push(raw)
  parts.fingerprints.push(known.fingerprints[index] ?? 0)
  parts.weights.push(known.weights[index] ?? 0)
  parts.kinds.push(known.kinds[index] ?? 'item')
  parts.blocksOf.push(known.blocks[index] ?? 1)
  parts.blocks += known.blocks[index] ?? 1
  return end
}

function addBlock(source: Source, start: number, { found, parts }: { found: Found; parts: MessageParts }): number {
  const block = readBlock(source, start, found.fingerprint)
  if (block.markMs !== undefined) parts.marks.push({ block: parts.blocks, lifetimeMs: block.markMs })
  parts.blocks++
  found.kind ||= block.kind
  found.weight += block.weight
  return block.end
}

function kindOf({ role, kind }: Found): string {
  return KINDS.get(`${role}, ${kind}`) ?? (role === '' ? 'item' : role)
}

/** Kinds that differ by their block: each is one string, shared by all digests. */
const KINDS: ReadonlyMap<string, string> = new Map(
  ['user', 'assistant', 'tool', 'developer', 'model'].flatMap((role) =>
    ['text', 'thinking', 'tool_use', 'tool_result', 'image', 'document', 'compaction', 'input_text', 'output_text'].map(
      (kind): [string, string] => [`${role}, ${kind}`, `${role}, ${kind}`],
    ),
  ),
)

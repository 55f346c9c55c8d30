import type { Range } from '../../core/json/scan-value.ts'

/**
 * DESIGN: digest of a request's prefix.
 *
 * A provider caches the beginning of a prompt: tools, then the system text, then messages. The digest is what remains of
 * a sent request to compare it with the next one, without its text:
 *
 *     tools      for each tool its name, a fingerprint of its description and one of the rest
 *     system     for each block a fingerprint, and a checksum for every 16 characters, to find the place of a change
 *     messages   for each message a fingerprint, its weight, and the kind of its first block
 *     marks      block numbers of `cache_control`, counted over all three, with lifetimes
 *     settings   fingerprints of the fields that providers render into the prompt
 *
 * A fingerprint is a CRC-32 with a length: it separates two versions of a text, and restores neither. Marks move from turn
 * to turn and are no content, so they are in no fingerprint, and a string counts as its only text block.
 */
export interface PrefixDigest {
  readonly tools: ToolsDigest
  readonly system: SystemDigest
  readonly messages: MessagesDigest
  readonly marks: readonly Mark[]
  readonly settings: ReadonlyMap<string, Fingerprint>
  /** Lifetime that the request asks for outside marks; `undefined`: the provider's default. */
  readonly lifetimeMs: number | undefined
  /** Blocks of all three parts. */
  readonly blocks: number
  /** Weight of all three parts; tokens are shared out by it. */
  readonly weight: number
}

/** CRC-32 and length of some bytes, as one safe integer. */
export type Fingerprint = number

/** Digest of the tools. */
export interface ToolsDigest {
  /** Fingerprint of the field's raw value, by which an equal list is recognised without being read. */
  readonly whole: Fingerprint
  readonly tools: readonly ToolDigest[]
  readonly marks: readonly Mark[]
  readonly weight: number
}

/** Digest of one tool. */
export interface ToolDigest {
  /** At most 64 characters. */
  readonly name: string
  readonly description: Fingerprint
  readonly rest: Fingerprint
}

/** Digest of the system text. */
export interface SystemDigest {
  readonly blocks: readonly SystemBlock[]
  readonly marks: readonly Mark[]
  readonly weight: number
}

/** Digest of one block of the system text. */
export interface SystemBlock {
  readonly fingerprint: Fingerprint
  /** Checksums of 16 characters each; empty for a block that is no text. */
  readonly chunks: Uint32Array
  /** Place of the text's JSON string in the body that was read; not to be used with another body. */
  readonly place: Range
}

/** Digest of the messages, in parallel arrays. */
export interface MessagesDigest {
  readonly fingerprints: Float64Array
  /** Fingerprints of the raw bytes, by which an equal message is recognised without being read; 0 for one with a mark. */
  readonly raws: Float64Array
  readonly blocks: Uint32Array
  readonly weights: Uint32Array
  /** Role and kind of the first block, as `user, tool_result`. */
  readonly kinds: readonly string[]
}

/** A mark for the prompt cache. */
export interface Mark {
  /** Number of the block that carries it, from 0. */
  readonly block: number
  readonly lifetimeMs: number
}

/** Returns the memory that a digest takes, in bytes, roughly. */
export function sizeOf({ tools, system, messages, marks, settings }: PrefixDigest): number {
  const chunkBytes = system.blocks.reduce((sum, { chunks }) => sum + BLOCK_BYTES + chunks.byteLength, 0)
  return (
    DIGEST_BYTES +
    tools.tools.length * TOOL_BYTES +
    chunkBytes +
    messages.kinds.length * MESSAGE_BYTES +
    (marks.length + settings.size) * ENTRY_BYTES
  )
}

const DIGEST_BYTES = 800
const TOOL_BYTES = 120
const BLOCK_BYTES = 160
const MESSAGE_BYTES = 32
const ENTRY_BYTES = 48

import { type Embedder, embeddingOf } from './embedder.ts'
import type { Entry } from './entry.ts'
import { leastCosineOf, type Mode, matchAmong, type NearMiss, neighbourCountOf } from './matcher.ts'
import { isKeptAsDigest } from './normalise.ts'
import type { ScopeIndex } from './scope-index.ts'

/** How an entry was found. */
export type Tier =
  /** The same text. */
  | 'exact'
  /** The same text but for white space. */
  | 'alias'
  /** A text of the same meaning. */
  | 'semantic'

/** An entry whose answer may be given. `score` is the cosine. */
export interface Found {
  readonly entry: Entry
  readonly tier: Tier
  readonly score: number
}

/** What was looked for and found. */
export interface Lookup {
  readonly found: Found | undefined
  /** Why the nearest neighbour was refused, or why none was looked for. */
  readonly reason: string | undefined
  /** What may fit all the same, in modes that can find out. */
  readonly near?: NearMiss | undefined
  /** Of the text; `undefined` when it was not to be compared. */
  readonly vector: Int8Array | undefined
}

/** What a lookup needs to know. */
export interface Asked {
  readonly text: string
  /** The text that is looked up by. */
  readonly normalised: string
  /** Why the text may only be found by itself, if so. */
  readonly literalReason: string | undefined
  readonly mode: Mode
  readonly nowMs: number
  readonly signal: AbortSignal
  /** Whether an entry's reply was found wrong for this text. */
  readonly isBlocked?: ((entry: Entry) => boolean) | undefined
}

/** Looks for an answer in a scope: the same text first, then its nearest neighbours. */
export async function lookUp(index: ScopeIndex | undefined, embedder: Embedder, asked: Asked): Promise<Lookup> {
  const { text, normalised, literalReason, mode, nowMs, isBlocked = never } = asked
  const same = index?.find(normalised, nowMs)
  if (same !== undefined && !isBlocked(same)) {
    const tier = text === normalised || isKeptAsDigest(text) ? 'exact' : 'alias'
    return { found: { entry: same, tier, score: 1 }, reason: undefined, vector: undefined }
  }
  if (literalReason !== undefined) return { found: undefined, reason: literalReason, vector: undefined }
  const { vector, reason } = await embeddingOf(embedder, text, asked.signal)
  if (vector === undefined) return { found: undefined, reason, vector }
  const near = { count: neighbourCountOf(mode), leastCosine: leastCosineOf(mode), nowMs }
  const neighbours = ((await index?.search(vector, near)) ?? []).filter(({ entry }) => !isBlocked(entry))
  const match = matchAmong(text, neighbours, mode)
  if (match.entry === undefined) return { found: undefined, reason: match.refusedBy, near: match.near, vector }
  return { found: { entry: match.entry, tier: 'semantic', score: match.cosine }, reason: undefined, vector }
}

function never(): boolean {
  return false
}

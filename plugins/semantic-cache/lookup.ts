import type { Embedder } from './embedder.ts'
import { leastCosineOf, type Mode, matchAmong, NEIGHBOUR_COUNT } from './matcher.ts'
import type { Entry, ScopeIndex } from './scope-index.ts'

/** How an entry was found. */
export type Tier =
  /** The same text. */
  | 'exact'
  /** The same text but for white space. */
  | 'alias'
  /** A text of the same meaning. */
  | 'semantic'

/** What was looked for and found. */
export interface Lookup {
  readonly found: { readonly entry: Entry; readonly tier: Tier; readonly score: number } | undefined
  /** Why the nearest neighbour was refused, or why none was looked for. */
  readonly reason: string | undefined
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
}

/** Looks for an answer in a scope: the same text first, then its nearest neighbours. */
export async function lookUp(index: ScopeIndex | undefined, embedder: Embedder, asked: Asked): Promise<Lookup> {
  const { text, normalised, literalReason, mode, nowMs } = asked
  const same = index?.find(normalised, nowMs)
  if (same !== undefined) {
    const tier = text === normalised ? 'exact' : 'alias'
    return { found: { entry: same, tier, score: 1 }, reason: undefined, vector: undefined }
  }
  if (literalReason !== undefined) return { found: undefined, reason: literalReason, vector: undefined }
  const embedding = embedder.embed(text, asked.signal)
  const vector = embedding instanceof Promise ? await embedding : embedding
  const near = { count: NEIGHBOUR_COUNT, leastCosine: leastCosineOf(mode), nowMs }
  const match = matchAmong(text, (await index?.search(vector, near)) ?? [], mode)
  if (match.entry === undefined) return { found: undefined, reason: match.refusedBy, vector }
  return { found: { entry: match.entry, tier: 'semantic', score: match.cosine }, reason: undefined, vector }
}

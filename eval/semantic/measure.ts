import { cosineOf } from '../../plugins/semantic-cache/cosine.ts'
import { lexicalEmbedder } from '../../plugins/semantic-cache/embedders/lexical.ts'
import { lookUp } from '../../plugins/semantic-cache/lookup.ts'
import { leastCosineOf, type Mode, matchAmong } from '../../plugins/semantic-cache/matcher.ts'
import { normaliseText } from '../../plugins/semantic-cache/normalise.ts'
import { ScopeIndex } from '../../plugins/semantic-cache/scope-index.ts'
import type { EvalPair, EvalRequest } from './data.ts'

/** How many pairs there were and how many were accepted, by what they are. */
export interface PairCounts {
  same: number
  sameAccepted: number
  other: number
  otherAccepted: number
}

/** Accepts or refuses every pair as the cache would, were the second text in it alone. By kind, and `all`. */
export function measurePairs(pairs: readonly EvalPair[], mode: Mode): Map<string, PairCounts> {
  const counts = new Map<string, PairCounts>()
  for (const pair of pairs) {
    const isAccepted = accepts(pair, mode)
    for (const kind of ['all', pair.kind]) count(counts, kind, { isSame: pair.isSame, isAccepted })
  }
  return counts
}

function accepts({ a, b }: EvalPair, mode: Mode): boolean {
  if (normaliseText(a) === normaliseText(b)) return true
  const cosine = cosineOf(lexicalEmbedder.embed(a), lexicalEmbedder.embed(b))
  if (cosine < leastCosineOf(mode)) return false
  const entry = { id: '', text: b, storedAtMs: 0, expiresAtMs: 1 }
  return matchAmong(a, [{ entry, cosine }], mode).entry !== undefined
}

function count(
  counts: Map<string, PairCounts>,
  kind: string,
  { isSame, isAccepted }: { isSame: boolean; isAccepted: boolean },
): void {
  const row = counts.get(kind) ?? { same: 0, sameAccepted: 0, other: 0, otherAccepted: 0 }
  counts.set(kind, row)
  if (isSame) row.same++
  else row.other++
  if (isSame && isAccepted) row.sameAccepted++
  if (!isSame && isAccepted) row.otherAccepted++
}

/** What a stream of requests came to. */
export interface StreamCounts {
  requests: number
  /** Answered before under the very same text; the semantic tier is not asked. */
  exact: number
  /** Not exact, and the same answer had been given before. */
  possible: number
  semantic: number
  /** Semantic, with an answer that belongs to another question. */
  wrong: number
  /** Semantic and right. */
  right: number
}

const LONG_AFTER_MS = Number.MAX_SAFE_INTEGER

/** Sends requests through one scope in their order; what is not served is answered and kept. */
export async function measureStream(requests: readonly EvalRequest[], mode: Mode): Promise<StreamCounts> {
  const counts: StreamCounts = { requests: 0, exact: 0, possible: 0, semantic: 0, wrong: 0, right: 0 }
  const index = new ScopeIndex(lexicalEmbedder.dimensions, requests.length)
  const answered = new Set<string>()
  for (const { text, answer } of requests) {
    const normalised = normaliseText(text)
    const { signal } = new AbortController()
    const asked = { text, normalised, literalReason: undefined, mode, nowMs: 0, signal }
    const { found, vector } = await lookUp(index, lexicalEmbedder, asked)
    counts.requests++
    if (found !== undefined && found.tier !== 'semantic') counts.exact++
    else if (answered.has(answer)) counts.possible++
    if (found === undefined)
      index.add({ id: answer, text: normalised, storedAtMs: 0, expiresAtMs: LONG_AFTER_MS }, vector)
    else if (found.tier === 'semantic') {
      counts.semantic++
      if (found.entry.id === answer) counts.right++
      else counts.wrong++
    }
    answered.add(answer)
  }
  return counts
}

/** `length` draws with replacement, so that texts come again. Lehmer's generator: the same on every run. */
export function drawWithReplacement(requests: readonly EvalRequest[], length: number, seed: number): EvalRequest[] {
  const next = lehmer(seed)
  return Array.from({ length }, () => requests[next() % requests.length]).flatMap((one) => one ?? [])
}

/** All of them once, shuffled. */
export function shuffle(requests: readonly EvalRequest[], seed: number): EvalRequest[] {
  const next = lehmer(seed)
  const ranked = requests.map((request) => ({ request, rank: next() })).sort((a, b) => a.rank - b.rank)
  return ranked.map(({ request }) => request)
}

function lehmer(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state
  }
}

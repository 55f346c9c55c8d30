import { cosineOf } from '../../plugins/semantic-cache/cosine.ts'
import type { Embedder } from '../../plugins/semantic-cache/embedder.ts'
import { lookUp } from '../../plugins/semantic-cache/lookup.ts'
import { leastCosineOf, type Mode, matchAmong } from '../../plugins/semantic-cache/matcher.ts'
import { normaliseText } from '../../plugins/semantic-cache/normalise.ts'
import { ScopeIndex } from '../../plugins/semantic-cache/scope-index.ts'
import type { EvalPair, EvalRequest } from './data.ts'
import { lehmer } from './random.ts'
import { openWholeGraph } from './whole-graph.ts'

/** How many pairs there were and how many were accepted, by what they are. */
export interface PairCounts {
  same: number
  sameAccepted: number
  other: number
  otherAccepted: number
}

/** How a text is judged. */
export interface Trial {
  readonly mode: Mode
  readonly embedder: Embedder
}

/** Accepts or refuses every pair as the cache would, were the second text in it alone. By kind, and `all`. */
export async function measurePairs(pairs: readonly EvalPair[], trial: Trial): Promise<Map<string, PairCounts>> {
  const counts = new Map<string, PairCounts>()
  for (const pair of pairs) {
    const isAccepted = await accepts(pair, trial)
    for (const kind of ['all', pair.kind]) count(counts, kind, { isSame: pair.isSame, isAccepted })
  }
  return counts
}

async function accepts({ a, b }: EvalPair, { mode, embedder }: Trial): Promise<boolean> {
  if (normaliseText(a) === normaliseText(b)) return true
  const { signal } = new AbortController()
  const cosine = cosineOf(await embedder.embed(a, signal), await embedder.embed(b, signal))
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

/** What a cache says of a request, and what it keeps of one that it did not answer. */
export interface SimulatedCache {
  /** The answer that is served, `literal` when the very text was known; `undefined` for a miss. */
  decide(request: EvalRequest): Promise<{ answer: string; isLiteral: boolean } | undefined>
  /** The request was answered live, right after `decide`. */
  learn(request: EvalRequest): void
}

/** Sends requests through a cache in their order; what is not served is answered and learnt. */
export async function simulate(requests: readonly EvalRequest[], cache: SimulatedCache): Promise<StreamCounts> {
  const counts: StreamCounts = { requests: 0, exact: 0, possible: 0, semantic: 0, wrong: 0, right: 0 }
  const answered = new Set<string>()
  for (const request of requests) {
    const served = await cache.decide(request)
    counts.requests++
    if (served?.isLiteral) counts.exact++
    else if (answered.has(request.answer)) counts.possible++
    if (served === undefined) cache.learn(request)
    else if (!served.isLiteral) {
      counts.semantic++
      if (served.answer === request.answer) counts.right++
      else counts.wrong++
    }
    answered.add(request.answer)
  }
  return counts
}

const LONG_AFTER_MS = Number.MAX_SAFE_INTEGER

/** One scope of the cache itself, in a mode that decides by itself. */
export function createScopeCache({ mode, embedder }: Trial, limit: number): SimulatedCache {
  const index = new ScopeIndex(embedder.dimensions, { entries: limit }, openWholeGraph)
  const { signal } = new AbortController()
  let vector: Int8Array | undefined
  return {
    async decide({ text }) {
      const normalised = normaliseText(text)
      const lookup = await lookUp(index, embedder, {
        text,
        normalised,
        literalReason: undefined,
        mode,
        nowMs: 0,
        signal,
      })
      vector = lookup.vector
      return lookup.found && { answer: lookup.found.entry.id, isLiteral: lookup.found.tier !== 'semantic' }
    },
    learn({ text, answer }) {
      index.add({ id: answer, text: normaliseText(text), storedAtMs: 0, expiresAtMs: LONG_AFTER_MS }, vector)
    },
  }
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

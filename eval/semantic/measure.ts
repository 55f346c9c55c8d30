import { agree } from '../../plugins/semantic-cache/candidates/agreement.ts'
import { Candidates } from '../../plugins/semantic-cache/candidates/candidates.ts'
import type { Embedder } from '../../plugins/semantic-cache/embedder.ts'
import { formOf } from '../../plugins/semantic-cache/form.ts'
import type { EvalPair, EvalRequest } from './data.ts'
import type { EvalMode } from './modes.ts'
import { lehmer } from './random.ts'

const LIMITS = { maxWords: 400 }
const LONG_AFTER_MS = Number.MAX_SAFE_INTEGER
const ROOM = { maxBytes: 1e9, maxScopeEntries: 1e6 }

/** Numbers of pairs and of accepted pairs, by label. */
export interface PairCounts {
  same: number
  sameAccepted: number
  other: number
  otherAccepted: number
}

/** Configuration of a measurement. */
export interface Trial {
  readonly mode: EvalMode
  readonly embedder: Embedder
}

/** Accepts or refuses every pair as the cache would with only the second text in it. By kind, and `all`. */
export async function measurePairs(pairs: readonly EvalPair[], trial: Trial): Promise<Map<string, PairCounts>> {
  const counts = new Map<string, PairCounts>()
  for (const pair of pairs) {
    const isAccepted = await accepts(pair, trial)
    for (const kind of ['all', pair.kind]) count(counts, kind, { isSame: pair.isSame, isAccepted })
  }
  return counts
}

/** Simulates a caller that sends one text, then the other. */
async function accepts({ a, b }: EvalPair, trial: Trial): Promise<boolean> {
  const cache = createScopeCache(trial)
  await cache.decide({ text: b, answer: '' })
  cache.learn({ text: b, answer: 'b' })
  return (await cache.decide({ text: a, answer: '' })) !== undefined
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

/** Counts of a stream of requests. */
export interface StreamCounts {
  requests: number
  /** Answered before under the identical text; the semantic tier does not run. */
  exact: number
  /** Not exact, and the same answer was given before. */
  possible: number
  semantic: number
  /** Semantic hit with the answer of another question. */
  wrong: number
  /** Semantic hit with the right answer. */
  right: number
}

/** Simulated cache: decides on a request, and stores the answer of a miss. */
export interface SimulatedCache {
  /** Returns the served answer, `literal` when the identical text was known; `undefined` for a miss. */
  decide(request: EvalRequest): Promise<{ answer: string; isLiteral: boolean } | undefined>
  /** Stores a request that was answered live, right after `decide`. */
  learn(request: EvalRequest): void
}

/** Sends requests through a cache in order; misses are answered and stored. */
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

/** Creates one scope of the cache, in a mode that decides by itself. */
export function createScopeCache({ mode, embedder }: Trial): SimulatedCache {
  const answers = new Map<string, { answer: string; text: string }>()
  const candidates = new Candidates({ dimensions: embedder.dimensions, ...ROOM })
  const { signal } = new AbortController()
  let vector: Int8Array | undefined
  return {
    async decide({ text }) {
      const { form, normalised, literalReason } = formOf(text, LIMITS)
      const known = answers.get(form)
      if (known !== undefined) return { answer: known.answer, isLiteral: known.text === normalised }
      if (mode.kind === 'strict' || literalReason !== undefined) return undefined
      vector = await embedder.embed(text, signal)
      const options = { count: 5, leastCosine: mode.leastCosine, nowMs: 0 }
      const near = candidates.nearest('s', vector, options).find(({ candidate }) => agree(candidate.text, normalised))
      const found = near && answers.get(near.candidate.key)
      return found && { answer: found.answer, isLiteral: false }
    },
    learn({ text, answer }) {
      const { form, normalised } = formOf(text, LIMITS)
      answers.set(form, { answer, text: normalised })
      if (vector !== undefined) candidates.add('s', { key: form, text: normalised, expiresAtMs: LONG_AFTER_MS }, vector)
    },
  }
}

/** Draws `length` requests with replacement, so that texts repeat. Lehmer's generator: the same on every run. */
export function drawWithReplacement(requests: readonly EvalRequest[], length: number, seed: number): EvalRequest[] {
  const next = lehmer(seed)
  return Array.from({ length }, () => requests[next() % requests.length]).flatMap((one) => one ?? [])
}

/** Returns all requests once, shuffled. */
export function shuffle(requests: readonly EvalRequest[], seed: number): EvalRequest[] {
  const next = lehmer(seed)
  const ranked = requests.map((request) => ({ request, rank: next() })).sort((a, b) => a.rank - b.rank)
  return ranked.map(({ request }) => request)
}

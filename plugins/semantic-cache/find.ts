import type { Exchange } from 'turnpike/plugin'
import type { Answer } from './answers/answer.ts'
import type { Answers } from './answers/answers.ts'
import { agree } from './candidates/agreement.ts'
import type { Candidates } from './candidates/candidates.ts'
import type { Candidate, Neighbour } from './candidates/scope-candidates.ts'
import { type Embedder, embeddingOf } from './embedder.ts'
import type { Judge, Judgement } from './judge/judge.ts'
import type { Options } from './options.ts'

/** Request to look up. */
export interface Lookup {
  readonly exchange: Exchange
  readonly scope: string
  /** Original text. */
  readonly text: string
  /** Text with normalised white space. */
  readonly normalised: string
  /** Key of its canonical form. */
  readonly key: string
  /** Reason why only the identical text answers it, if any. */
  readonly literalReason: string | undefined
  readonly effective: Options
}

/** Dependencies of a look-up. */
export interface FindParts {
  readonly answers: Answers
  readonly candidates: Candidates
  readonly embedder: Embedder
  readonly judge: Judge | undefined
  readonly nowMs: () => number
}

/** Tier of a hit: the identical text, the same but for white space, the same form, or vectors. */
export type Tier = 'exact' | 'alias' | 'canonical' | 'judged' | 'threshold'

/** Result of a look-up, with details for the trace. */
export interface Finding {
  readonly found:
    | { readonly answer: Answer; readonly key: string; readonly tier: Tier; readonly score: number }
    | undefined
  /** Vector of the text, if vectors are used and there is one. */
  readonly vector: Int8Array | undefined
  readonly details: Readonly<Record<string, unknown>>
}

const NEIGHBOURS = 5

/** Finds an answer: by the key, then, in modes that use them, by vectors. */
export async function find(lookup: Lookup, parts: FindParts): Promise<Finding> {
  const { effective, key, literalReason } = lookup
  const answer = await parts.answers.get(key)
  if (answer === 'unreachable') return miss('unreachable')
  if (answer !== undefined)
    return { found: { answer, key, tier: tierOf(lookup, answer), score: 1 }, vector: undefined, details: {} }
  if (literalReason !== undefined || effective.mode === 'strict') return miss(literalReason ?? 'new')
  return findNear(lookup, parts)
}

async function findNear(lookup: Lookup, parts: FindParts): Promise<Finding> {
  const { exchange, effective, scope, normalised, text } = lookup
  const { vector, reason } = await embeddingOf(parts.embedder, text, exchange.signal)
  if (vector === undefined) return miss(reason)
  const leastCosine = effective.mode === 'threshold' ? effective.threshold : effective.near_miss
  const near = parts.candidates
    .nearest(scope, vector, { count: NEIGHBOURS, leastCosine, nowMs: parts.nowMs() })
    .find(({ candidate }) => agree(candidate.text, normalised))
  if (near === undefined) return miss('distance', vector)
  if (effective.mode === 'threshold') return served(lookup, { near, vector, parts, details: {} })
  const { verdict, costNanoUsd } = await judgementOf(lookup, near.candidate, parts)
  exchange.addOwnCost(costNanoUsd)
  const details = { near: near.candidate.key, judge: effective.judge_model, verdict }
  return verdict === 'same' ? served(lookup, { near, vector, parts, details }) : { ...miss('judge', vector), details }
}

async function judgementOf(
  { exchange, normalised, effective }: Lookup,
  { text }: Candidate,
  { judge }: FindParts,
): Promise<Judgement | { readonly verdict: 'shadow' | 'off'; readonly costNanoUsd: number }> {
  if (effective.shadow) return { verdict: 'shadow', costNanoUsd: 0 }
  if (judge === undefined) return { verdict: 'off', costNanoUsd: 0 }
  return exchange.withoutTimeout(judge.judge({ newQuestion: normalised, oldQuestion: text }, exchange.signal))
}

interface Serving {
  readonly near: Neighbour
  readonly vector: Int8Array
  readonly parts: FindParts
  readonly details: Readonly<Record<string, unknown>>
}

async function served({ scope, effective }: Lookup, { near, vector, parts, details }: Serving): Promise<Finding> {
  const { key } = near.candidate
  const answer = await parts.answers.get(key)
  if (answer === undefined) parts.candidates.remove(scope, key)
  if (answer === undefined || answer === 'unreachable') return miss(answer ?? 'reply-gone', vector)
  const tier = effective.mode === 'judged' ? 'judged' : 'threshold'
  return { found: { answer, key, tier, score: near.cosine }, vector, details }
}

function tierOf({ text, normalised }: Lookup, answer: Answer): Tier {
  if (answer.text !== normalised) return 'canonical'
  return text === normalised || normalised.startsWith('sha256:') ? 'exact' : 'alias'
}

function miss(reason: string | undefined, vector?: Int8Array): Finding {
  return { found: undefined, vector, details: { reason } }
}

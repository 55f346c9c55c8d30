import { scoreOf } from './bound/score.ts'
import { cosineOf } from './cosine.ts'
import { lexicalEmbedder } from './embedders/lexical.ts'
import type { Entry } from './entry.ts'
import { refusalOf } from './guard/guard.ts'
import { type Pair, pairUp } from './guard/pair.ts'
import { type Reading, readPrompt } from './guard/reading.ts'
import { likelihoodOf, STRICT_LIKELIHOOD } from './guard/verifier.ts'
import type { Neighbour } from './scope-index.ts'

/** When a neighbour's answer is given. */
export type Mode =
  /** Every rule of the guard passes, and the verifier agrees. */
  | { readonly kind: 'strict' }
  /** The same; what only the typed vetoes let through is judged afterwards, if the cosine is at least this. */
  | { readonly kind: 'judged'; readonly leastCosine: number }
  /** The typed vetoes pass, and so few of its score were wrong that less than `delta` are, for all that is known. */
  | { readonly kind: 'bound'; readonly delta: number }
  /** The typed vetoes pass, and the cosine is at least this. */
  | { readonly kind: 'threshold'; readonly leastCosine: number }

/** How many neighbours are looked at, nearest first. */
const NEIGHBOUR_COUNT = 5
/** In mode `bound` farther ones say whether an answer stands alone. */
const VOTER_COUNT = 10

/** Where rules or verdicts decide, vectors only propose; this keeps out what shares next to nothing. */
const PROPOSAL_COSINE = 0.3

/** The least cosine at which a neighbour is worth a look. */
export function leastCosineOf(mode: Mode): number {
  return mode.kind === 'threshold' ? mode.leastCosine : PROPOSAL_COSINE
}

/** How many neighbours are asked for. */
export function neighbourCountOf(mode: Mode): number {
  return mode.kind === 'bound' ? VOTER_COUNT : NEIGHBOUR_COUNT
}

/** A neighbour whose answer may fit, which only a judge or evidence can tell. */
export interface NearMiss extends Neighbour {
  /** Log-odds that it fits, in mode `bound`. */
  readonly score: number
}

/** The neighbour whose answer is given, or why the nearest was refused, and which one may fit all the same. */
export type Match =
  | { readonly entry: Entry; readonly cosine: number }
  | {
      readonly entry: undefined
      readonly refusedBy: string
      readonly cosine: number
      readonly near?: NearMiss | undefined
    }

/** Looks at neighbours, nearest first, for one that the guard lets through. */
export function matchAmong(text: string, neighbours: readonly Neighbour[], mode: Mode): Match {
  const asked = readPrompt(text)
  const looked = neighbours.slice(0, NEIGHBOUR_COUNT)
  if (mode.kind === 'bound') return bestScored({ text, asked, looked, voters: neighbours })
  let first: { refusedBy: string; cosine: number } | undefined
  let near: NearMiss | undefined
  for (const neighbour of looked) {
    const { entry, cosine } = neighbour
    const pair = pairUp(asked, readPrompt(entry.text))
    const refusedBy = mode.kind === 'threshold' ? refusalOf(pair, 'typed') : strictRefusalOf(pair, text, entry)
    if (refusedBy === undefined) return { entry, cosine }
    first ??= { refusedBy, cosine }
    if (mode.kind === 'judged' && near === undefined && cosine >= mode.leastCosine) {
      if (refusalOf(pair, 'typed') === undefined) near = { ...neighbour, score: 0 }
    }
  }
  return { entry: undefined, ...(first ?? FAR), near }
}

const FAR = { refusedBy: 'distance', cosine: 0 }

function strictRefusalOf(pair: Pair, text: string, entry: Entry): string | undefined {
  return (
    refusalOf(pair, 'strict') ?? (fittedLikelihoodOf(pair, text, entry) < STRICT_LIKELIHOOD ? 'verifier' : undefined)
  )
}

/** The verifier was fitted to the cosine of the built-in embedder, whichever has proposed the pair. */
function fittedLikelihoodOf(pair: Pair, text: string, entry: Entry): number {
  return likelihoodOf(pair, cosineOf(lexicalEmbedder.embed(text), lexicalEmbedder.embed(entry.text)))
}

interface Scoring {
  readonly text: string
  readonly asked: Reading
  readonly looked: readonly Neighbour[]
  readonly voters: readonly Neighbour[]
}

/** In mode `bound` no rule accepts: the likeliest of those that no typed veto refuses is a proposal to the evidence. */
function bestScored({ text, asked, looked, voters }: Scoring): Match {
  let refusedBy: string | undefined
  let near: NearMiss | undefined
  for (const neighbour of looked) {
    const pair = pairUp(asked, readPrompt(neighbour.entry.text))
    const veto = refusalOf(pair, 'typed')
    refusedBy ??= veto
    if (veto !== undefined) continue
    const likelihood = fittedLikelihoodOf(pair, text, neighbour.entry)
    const isStrict = refusalOf(pair, 'strict') === undefined
    const score = scoreOf({ neighbour, pair, likelihood, isStrict }, voters)
    if (near === undefined || score > near.score) near = { ...neighbour, score }
  }
  if (near !== undefined) return { entry: undefined, refusedBy: 'bound', cosine: near.cosine, near }
  return { entry: undefined, refusedBy: refusedBy ?? FAR.refusedBy, cosine: looked[0]?.cosine ?? 0 }
}

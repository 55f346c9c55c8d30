import { cosineOf } from './cosine.ts'
import { lexicalEmbedder } from './embedders/lexical.ts'
import { refusalOf } from './guard/guard.ts'
import { pairUp } from './guard/pair.ts'
import { readPrompt } from './guard/reading.ts'
import { likelihoodOf, STRICT_LIKELIHOOD } from './guard/verifier.ts'
import type { Entry, Neighbour } from './scope-index.ts'

/** When a neighbour's answer is given. */
export type Mode =
  /** Every rule of the guard passes, and the verifier agrees. */
  | { readonly kind: 'strict' }
  /** The typed vetoes pass, and the cosine is at least this. */
  | { readonly kind: 'threshold'; readonly leastCosine: number }

/** How many neighbours are looked at, nearest first. */
export const NEIGHBOUR_COUNT = 5

/** In mode `strict` vectors only propose; this keeps out what shares next to nothing. */
const STRICT_LEAST_COSINE = 0.3

/** The least cosine at which a neighbour is worth a look. */
export function leastCosineOf(mode: Mode): number {
  return mode.kind === 'strict' ? STRICT_LEAST_COSINE : mode.leastCosine
}

/** The neighbour whose answer is given, or why the nearest was refused. */
export type Match =
  | { readonly entry: Entry; readonly cosine: number }
  | { readonly entry: undefined; readonly refusedBy: string; readonly cosine: number }

/** Looks at neighbours, nearest first, for one that the guard lets through. */
export function matchAmong(text: string, neighbours: readonly Neighbour[], mode: Mode): Match {
  const asked = readPrompt(text)
  let first: Match | undefined
  for (const { entry, cosine } of neighbours) {
    const pair = pairUp(asked, readPrompt(entry.text))
    const refusedBy = refusalOf(pair, mode.kind === 'strict' ? 'strict' : 'typed') ?? unlikely()
    if (refusedBy === undefined) return { entry, cosine }
    first ??= { entry: undefined, refusedBy, cosine }

    function unlikely(): string | undefined {
      if (mode.kind !== 'strict') return undefined
      // The verifier was fitted to the cosine of the built-in embedder, whichever has proposed the pair.
      const fitted = cosineOf(lexicalEmbedder.embed(text), lexicalEmbedder.embed(entry.text))
      return likelihoodOf(pair, fitted) < STRICT_LIKELIHOOD ? 'verifier' : undefined
    }
  }
  return first ?? { entry: undefined, refusedBy: 'distance', cosine: 0 }
}

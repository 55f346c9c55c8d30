import type { ExampleIndex } from './examples.ts'
import { fold, plainWords } from './words.ts'

/** Most characters of a text that are searched. */
export const SEARCHED_CHARACTERS = 8192

/** The beginning and the end of a long text, where people say what they want; what they paste stands between. */
export function bounded(text: string): string {
  if (text.length <= SEARCHED_CHARACTERS) return text
  const half = SEARCHED_CHARACTERS / 2
  return `${text.slice(0, half - 1)}\n\n${text.slice(1 - half)}`
}

/** A text to search, with what is found out about it once for all patterns, and only when one asks. */
export class MatchText {
  readonly text: string
  readonly #index: ExampleIndex
  #folded: string | undefined
  #words: ReadonlySet<string> | undefined
  #scores: ReadonlyMap<string, number> | undefined
  #best: readonly [owner: string, score: number][] | undefined

  constructor(text: string, index: ExampleIndex) {
    this.text = bounded(text)
    this.#index = index
  }

  /** The text as keywords are compared with it. */
  get folded(): string {
    this.#folded ??= fold(this.text)
    return this.#folded
  }

  get words(): ReadonlySet<string> {
    this.#words ??= new Set(plainWords(this.folded))
    return this.#words
  }

  /** Example scores by pattern, of those that have any. */
  get scores(): ReadonlyMap<string, number> {
    this.#scores ??= this.#index.scores(this.text)
    return this.#scores
  }

  /** The best score that a pattern other than `owner` has. */
  bestScoreBeside(owner: string): number {
    this.#best ??= twoBest([...this.scores].filter(([other]) => !isOfExceptions(other)))
    return this.#best.find(([other]) => other !== owner)?.[1] ?? 0
  }
}

const EXCEPTIONS = '!not'

/** Under which the examples of a pattern's `not` stand in the index: they are no rivals of other patterns. */
export function ownerOfExceptions(pattern: string): string {
  return pattern + EXCEPTIONS
}

function isOfExceptions(owner: string): boolean {
  return owner.endsWith(EXCEPTIONS)
}

function twoBest(scores: readonly [string, number][]): [string, number][] {
  return scores.toSorted(([, a], [, b]) => b - a).slice(0, 2)
}

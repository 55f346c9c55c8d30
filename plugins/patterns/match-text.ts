import type { ExampleIndex } from './examples.ts'
import { fold, plainWords } from './words.ts'

/** Most characters of a text that are searched at all, and that are compared with examples. */
const SEARCHED_CHARACTERS = 65_536
const COMPARED_CHARACTERS = 8192

/** The beginning and the end of a long text, where people say what they want; what they paste stands between. */
function bounded(text: string, characters: number): string {
  if (text.length <= characters) return text
  const half = Math.floor(characters / 2)
  return `${text.slice(0, half - 1)}\n\n${text.slice(1 - half)}`
}

/** A text to search, with what is found out about it once for all patterns, and only when one asks. */
export class MatchText {
  readonly text: string
  readonly #index: ExampleIndex
  #lower: string | undefined
  #folded: string | undefined
  #words: ReadonlySet<string> | undefined
  #scores: ReadonlyMap<string, number> | undefined
  #best: readonly [owner: string, score: number][] | undefined

  constructor(text: string, index: ExampleIndex) {
    this.text = bounded(text, SEARCHED_CHARACTERS)
    this.#index = index
  }

  /** At most so many characters of it. */
  upTo(characters: number): string {
    return bounded(this.text, characters)
  }

  /** The text in small letters, the long s among them, as expressions compare letters. */
  get lower(): string {
    this.#lower ??= this.text.toLowerCase().replaceAll('ſ', 's')
    return this.#lower
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
    this.#scores ??= this.#index.scores(this.upTo(COMPARED_CHARACTERS))
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

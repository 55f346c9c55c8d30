import type { ExampleIndex } from './examples.ts'
import { fold, plainWords } from './words.ts'

/** Most characters of a text that are searched, and that are compared with examples. */
const SEARCHED_CHARACTERS = 65_536
const COMPARED_CHARACTERS = 8192

/** Returns the beginning and the end of a long text, where users state their task; pasted text is mostly in between. */
function bounded(text: string, characters: number): string {
  if (text.length <= characters) return text
  const half = Math.floor(characters / 2)
  return `${text.slice(0, half - 1)}\n\n${text.slice(1 - half)}`
}

/** Text to search, with lazy memos that all patterns share. */
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

  /** Returns at most the given number of characters. */
  upTo(characters: number): string {
    return bounded(this.text, characters)
  }

  /** Text in lower case, including the long s, as expressions compare letters. */
  get lower(): string {
    this.#lower ??= this.text.toLowerCase().replaceAll('ſ', 's')
    return this.#lower
  }

  /** Text as keywords are compared with it. */
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

  /** Returns the best score of any other pattern than `owner`. */
  bestScoreBeside(owner: string): number {
    this.#best ??= twoBest([...this.scores].filter(([other]) => !isOfExceptions(other)))
    return this.#best.find(([other]) => other !== owner)?.[1] ?? 0
  }
}

const EXCEPTIONS = '!not'

/** Returns the index owner of the examples in a pattern's `not`: they do not compete with other patterns. */
export function ownerOfExceptions(pattern: string): string {
  return pattern + EXCEPTIONS
}

function isOfExceptions(owner: string): boolean {
  return owner.endsWith(EXCEPTIONS)
}

function twoBest(scores: readonly [string, number][]): [string, number][] {
  return scores.toSorted(([, a], [, b]) => b - a).slice(0, 2)
}

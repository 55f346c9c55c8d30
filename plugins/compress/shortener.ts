import type { Message, TextRange } from 'turnpike/plugin'
import { Earlier } from './earlier.ts'
import { estimateTokens } from './estimate.ts'
import { piecesOf } from './kept.ts'
import { labelOf } from './pointer.ts'
import { segmentsOf } from './segments.ts'
import { pointToEarlier } from './shown-before.ts'
import { stripFor } from './strip.ts'
import { partsOf, type ResultText, type ToolCall } from './tool-results.ts'

/** A text that is replaced. */
export interface Change {
  /** From the message to the text. */
  readonly path: readonly (string | number)[]
  readonly text: string
  readonly savedTokens: number
  readonly pointers: number
}

/** Tells which parts of the string at a path of the message must stay as they are. */
export type PreservedIn = (path: readonly (string | number)[], length: number) => readonly TextRange[]

/** What becomes of a result that is elided rather than shortened; `undefined` when it is not. */
export type ElideResult = (
  text: string,
  call: ToolCall | undefined,
  preserved: readonly TextRange[],
) => string | undefined

/** How the next message is to be treated. */
export interface Treatment {
  readonly preservedIn: PreservedIn
  readonly elide: ElideResult
}

const PLAIN_TREATMENT: Treatment = { preservedIn: () => [], elide: () => undefined }

/** Gives what of a line is compared with earlier ones. */
export type KeyOf = (line: string) => string

/** How far a shortener has come. */
interface Mark {
  readonly earlierLength: number
  readonly calls: number
  readonly characters: number
}

/**
 * Of one conversation, in UTF-16 units: about 750,000 tokens. Lines of two characters cost a fifth of a second each
 * million, and others wait meanwhile; what comes after stays as it is.
 */
const MOST_CHARACTERS = 3_000_000
const LEAST_TOKENS = 40
const LEAST_SAVED_TOKENS = 8
const LEAST_SAVED_SHARE = 0.03

/**
 * DESIGN: stage A. Shortens what tools gave back, message by message, and leaves nothing out.
 *
 * Guarantees: causal: what becomes of a message depends on the messages before it and on itself, so that a provider's
 * prompt cache of the conversation stays good; a text that does not become shorter by a fair part stays as it was.
 * Limits: text parts of tool results only. The same messages in another order are another conversation.
 */
export class Shortener {
  readonly #earlier = new Earlier()
  readonly #calls = new Map<string, ToolCall>()
  readonly #marks: Mark[] = []
  /** Of all texts that were compared so far. */
  #characters = 0
  readonly #keyOf: KeyOf

  constructor(keyOf: KeyOf = (line) => line) {
    this.#keyOf = keyOf
  }

  /** Messages taken in so far. */
  get length(): number {
    return this.#marks.length
  }

  /** What changes in the next message. */
  next(message: Message, treatment: Partial<Treatment> = {}): Change[] {
    const { preservedIn, elide } = { ...PLAIN_TREATMENT, ...treatment }
    this.#marks.push({ earlierLength: this.#earlier.length, calls: this.#calls.size, characters: this.#characters })
    const changes: Change[] = []
    for (const part of partsOf(message)) {
      if (part.kind === 'call') this.#calls.set(`${this.length} ${part.id}`, part)
      else if (part.kind === 'other') {
        if (this.#compares(part.text)) this.#take(part.text, part.label)
      } else {
        const preserved = preservedIn(part.path, part.text.length)
        const elided = elide(part.text, this.callOf(part.toolUseId), preserved)
        if (elided !== undefined) changes.push(...changeOf(part, elided, 0))
        else if (this.#compares(part.text)) changes.push(...this.#shorten(part, preserved))
      }
    }
    return changes
  }

  /** Forgets all messages but the first `length`. */
  cutBack(length: number): void {
    const mark = this.#marks[length]
    if (mark === undefined) return
    this.#marks.length = length
    this.#characters = mark.characters
    this.#earlier.cutBack(mark.earlierLength)
    for (const id of [...this.#calls.keys()].slice(mark.calls)) this.#calls.delete(id)
  }

  /** The call that a result answers: one of the message before it. */
  callOf(toolUseId: string): ToolCall | undefined {
    return this.#calls.get(`${this.length - 1} ${toolUseId}`)
  }

  /** Whether a text is within what is compared of the conversation; it is counted. */
  #compares({ length }: string): boolean {
    if (this.#characters + length > MOST_CHARACTERS) return false
    this.#characters += length
    return true
  }

  #take(text: string, label: string): void {
    this.#earlier.begin(label)
    for (const segment of segmentsOf(text, this.#keyOf)) this.#earlier.add(segment)
  }

  #shorten({ path, text, toolUseId }: ResultText, preserved: readonly TextRange[]): Change[] {
    const call = this.callOf(toolUseId)
    const strip = stripFor(call)
    const source = this.#earlier.begin(call === undefined ? 'tool result' : labelOf(call))
    let pointers = 0
    let shortened = ''
    for (const piece of piecesOf(text, preserved)) {
      if (piece.isKept) {
        for (const segment of segmentsOf(piece.text, this.#keyOf)) this.#earlier.add(segment)
        shortened += piece.text
        continue
      }
      const result = pointToEarlier(segmentsOf(strip(piece.text), this.#keyOf), this.#earlier, source)
      pointers += result.pointers
      shortened += result.text
    }
    return changeOf({ path, text }, shortened, pointers)
  }
}

/** The change of a text, when it is worth one. */
function changeOf({ path, text }: Pick<ResultText, 'path' | 'text'>, shortened: string, pointers: number): Change[] {
  if (shortened.length >= text.length) return []
  const before = estimateTokens(text)
  const savedTokens = before - estimateTokens(shortened)
  if (before < LEAST_TOKENS || savedTokens < LEAST_SAVED_TOKENS || savedTokens < before * LEAST_SAVED_SHARE) return []
  return [{ path, text: shortened, savedTokens, pointers }]
}

import type { Message } from 'turnpike/plugin'
import type { TextRange } from 'turnpike/plugin/bytes'
import { Earlier, type Source } from './earlier.ts'
import { estimateTokens } from './estimate.ts'
import { tellsFailure } from './failure.ts'
import { type Piece, piecesOf } from './kept.ts'
import { type Named, Names } from './naming.ts'
import { segmentsOf } from './segments.ts'
import { pointToEarlier } from './shown-before.ts'
import { showsFile } from './shows-file.ts'
import { stripFile, stripOutput } from './strip.ts'
import { partsOf, type Result, type ResultText, type ToolCall } from './tool-results.ts'

/** Replacement of a text. */
export interface Change {
  /** Path from the message to the text. */
  readonly path: readonly (string | number)[]
  readonly text: string
  readonly savedTokens: number
  readonly pointers: number
}

/** Returns the ranges to preserve in the string at a path of the message. */
export type PreservedIn = (path: readonly (string | number)[], length: number) => readonly TextRange[]

/** Returns the elided form of a result; `undefined` for a result that is only shortened. */
export type ElideResult = (
  text: string,
  call: ToolCall | undefined,
  known: { readonly preserved: readonly TextRange[]; readonly isFile: boolean },
) => string | undefined

/** Treatment of the next message. */
export interface Treatment {
  readonly preservedIn: PreservedIn
  readonly elide: ElideResult
}

const PLAIN_TREATMENT: Treatment = { preservedIn: () => [], elide: () => undefined }

/** Returns the comparison key of a line. */
export type KeyOf = (line: string) => string

/** State of a shortener after a message. */
interface Mark {
  readonly earlierLength: number
  readonly names: number
  readonly calls: number
  readonly characters: number
}

/**
 * Most text of one conversation, in UTF-16 units: about 750,000 tokens. Lines of two characters cost a fifth of a
 * second per million, which blocks other requests; text beyond it is unchanged.
 */
const MOST_CHARACTERS = 3_000_000
const LEAST_TOKENS = 40
const LEAST_SAVED_TOKENS = 8
const LEAST_SAVED_SHARE = 0.03
/** Most lines of a text that are looked up in files. */
const MOST_SAMPLES = 64
/** Fewest lines in common with files, and their share, that classify a text as a file. */
const LEAST_AGREEING = 3
const LEAST_AGREEING_SHARE = 0.25
const UNKNOWN_CALL = { name: 'tool result', input: {} }

/**
 * DESIGN: stage A. Shortens tool results, message by message, without losing information.
 *
 * Guarantees: causal: the result for a message depends on the messages before it and on itself, so that a provider's
 * prompt cache of the conversation stays valid; a text that does not become shorter by a fair part stays as it was.
 * Limits: text parts of tool results only. The same messages in another order are another conversation.
 */
export class Shortener {
  readonly #earlier = new Earlier<Named>()
  readonly #names = new Names()
  readonly #calls = new Map<string, ToolCall>()
  readonly #marks: Mark[] = []
  /** Characters of all texts compared so far. */
  #characters = 0
  readonly #keyOf: KeyOf

  constructor(keyOf: KeyOf = (line) => line) {
    this.#keyOf = keyOf
  }

  /** Number of messages processed. */
  get length(): number {
    return this.#marks.length
  }

  /** Returns the changes of the next message. */
  next(message: Message, treatment: Partial<Treatment> = {}): Change[] {
    this.#marks.push({
      earlierLength: this.#earlier.length,
      names: this.#names.length,
      calls: this.#calls.size,
      characters: this.#characters,
    })
    return partsOf(message).flatMap((part) => {
      if (part.kind === 'result') return this.#takeResult(part, { ...PLAIN_TREATMENT, ...treatment })
      this.#takeCall(part)
      return []
    })
  }

  /** Forgets all messages but the first `length`. */
  cutBack(length: number): void {
    const mark = this.#marks[length]
    if (mark === undefined) return
    this.#marks.length = length
    this.#characters = mark.characters
    this.#earlier.cutBack(mark.earlierLength)
    this.#names.cutBack(mark.names)
    for (const id of [...this.#calls.keys()].slice(mark.calls)) this.#calls.delete(id)
  }

  /** Returns the call that a result belongs to: one of the message before it. */
  #callOf(toolUseId: string): ToolCall | undefined {
    return this.#calls.get(`${this.length - 1} ${toolUseId}`)
  }

  /** Adds a call and its input: a target of pointers that is never changed. */
  #takeCall(call: ToolCall): void {
    this.#calls.set(`${this.length} ${call.id}`, call)
    const { name, input } = call
    const named: Named = { kind: 'input', name, input, isFile: true }
    this.#names.add(named)
    const compared = call.given.filter((text) => this.#compares(text))
    if (compared.length > 0) this.#earlier.begin(named)
    for (const text of compared) {
      this.#earlier.gap()
      this.#add(text)
    }
  }

  /** Shortens a tool result, and adds it as a target of pointers, unless it is a failure. */
  #takeResult({ toolUseId, isError, texts }: Result, { preservedIn, elide }: Treatment): Change[] {
    const call = this.#callOf(toolUseId)
    const { name, input } = call ?? UNKNOWN_CALL
    const isFile = texts.some(({ text }) => showsFile(call, text))
    const named: Named = { kind: 'result', name, input, isFile }
    const own = this.#earlier.begin(named)
    const changes = texts.flatMap((part): Change[] => {
      const preserved = preservedIn(part.path, part.text.length)
      const elided = elide(part.text, call, { preserved, isFile })
      if (elided !== undefined) return changeOf(part, elided)
      if (!this.#compares(part.text)) return []
      this.#earlier.gap()
      const pieces = piecesOf(part.text, preserved)
      const stripped = this.#strip(pieces, isFile)
      return isError || tellsFailure(part.text)
        ? changeOf(part, joinPieces(stripped))
        : this.#point(part, { pieces, stripped, own })
    })
    this.#names.add(named)
    return changes
  }

  /** Removes layout, except from files, recognised by the call or by lines in common with files. */
  #strip(pieces: readonly Piece[], isFile: boolean): Piece[] {
    return pieces.map((piece) => {
      if (piece.isKept) return piece
      const asFile = { ...piece, text: stripFile(piece.text) }
      if (isFile) return asFile
      const text = stripOutput(piece.text)
      return text !== piece.text && this.#agreesWithFile(piece.text) ? asFile : { ...piece, text }
    })
  }

  #agreesWithFile(text: string): boolean {
    if (!this.#earlier.has((origin) => origin.isFile)) return false
    const lines = text.split('\n')
    const step = Math.ceil(lines.length / MOST_SAMPLES)
    const samples = lines.filter((line, index) => index % step === 0 && line.trim() !== '')
    const inFiles = samples.filter((line) => this.#earlier.hasLine(line, (origin) => origin.isFile)).length
    return inFiles >= LEAST_AGREEING && inFiles >= samples.length * LEAST_AGREEING_SHARE
  }

  #point(part: ResultText, { pieces, stripped, own }: Pointing): Change[] {
    const { length } = this.#earlier
    const results = stripped.map((piece, index) => this.#pointInPiece(piece, own, stripped, index))
    const text = results.map((result) => result.text).join('')
    const pointers = results.reduce((sum, result) => sum + result.pointers, 0)
    const changes = changeOf(part, text, pointers)
    if (changes.length > 0 || text === part.text) return changes
    // Unchanged, so that it remains readable.
    this.#earlier.cutBack(length)
    for (const piece of pieces) this.#add(piece.text)
    return []
  }

  #pointInPiece({ text, isKept }: Piece, own: Source<Named>, pieces: readonly Piece[], index: number) {
    const cutting = {
      keyOf: this.#keyOf,
      beginsInLine: index > 0 && pieces[index - 1]?.text.endsWith('\n') !== true,
      endsInLine: index < pieces.length - 1,
    }
    const segments = segmentsOf(text, cutting)
    if (!isKept)
      return pointToEarlier(segments, { earlier: this.#earlier, own, labelOf: (named) => this.#names.labelOf(named) })
    for (const segment of segments) this.#earlier.add(segment)
    return { text, pointers: 0 }
  }

  #add(text: string): void {
    for (const segment of segmentsOf(text, { keyOf: this.#keyOf })) this.#earlier.add(segment)
  }

  /** Counts a text against the bound on comparisons; false beyond it. */
  #compares({ length }: string): boolean {
    if (this.#characters + length > MOST_CHARACTERS) return false
    this.#characters += length
    return true
  }
}

interface Pointing {
  readonly pieces: readonly Piece[]
  /** Pieces without layout. */
  readonly stripped: readonly Piece[]
  readonly own: Source<Named>
}

function joinPieces(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('')
}

/** Returns the change of a text, when it saves enough. */
function changeOf({ path, text }: ResultText, shortened: string, pointers = 0): Change[] {
  if (shortened.length >= text.length) return []
  const before = estimateTokens(text)
  const savedTokens = before - estimateTokens(shortened)
  if (before < LEAST_TOKENS || savedTokens < LEAST_SAVED_TOKENS) return []
  if (pointers === 0 && savedTokens < before * LEAST_SAVED_SHARE) return []
  return [{ path, text: shortened, savedTokens, pointers }]
}

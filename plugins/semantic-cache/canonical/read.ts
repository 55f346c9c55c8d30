/**
 * DESIGN — what is never rewritten
 *
 *   How do I run `git  log` on "Main Branch", v1.2?
 *   how do i run ◆          on ◆            , ◆   ?      ◆ = one protected piece, kept as it was written
 *
 * Quoted text, code spans, and every chunk that holds a digit, a symbol, a letter beyond ASCII or a mixture of cases are
 * protected: rules see a placeholder, and can move or keep it, never change it. Placeholders are private-use characters,
 * which no text has here: texts with invisible characters are not read.
 */
const FIRST_PLACEHOLDER = 0xe000
/** Pieces of one kind at most; a text with more is not read. */
const KIND_SIZE = 0x800

/** Placeholders by what they stand for, for patterns. */
export const PLACEHOLDERS = { number: '[\ue000-\ue7ff]', quote: '[\ue800-\uefff]', any: '[\ue000-\uf7ff]' } as const

const SPAN = /(?<![^\s(])(?:`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|'[^'\n]+'|‘[^’\n]+’)(?=[\s,;:.?!)]|$)/gu
/** A mark that is no part of a span is one whose end is unclear. */
const DASH_IN_RANGE = /(?<=\d)–(?=\d)/gu
const QUOTATION_MARK = /["“”«»„`‘]|(?<![^\s(])'|(?<!\p{L})’/u
const NUMBER = /^\d/
const QUOTED = /^[`"“']/u
const WORD = /^[A-Za-z]+(?:['’][A-Za-z]+)*['’]?(?:-[A-Za-z]+(?:['’][a-z]+)*)*$/
const CHUNK = /^(?<core>.*?)(?<ending>[,;:.?!]*)$/su
/** What stands before a mark that ends a phrase: a word, a number, a span; not `n!`, `a?`, `5!`. */
const A_WORD = /^\p{L}[\p{L}'’-]*[\p{L}'’]$/u
const LONG_ENOUGH = /^[\p{L}][\p{L}'’-]*[\p{L}'’]$|^[^\p{L}]*\d$|^.{2,}[\p{L}\d%)]{2}$/su

/** A text taken apart: chunks of words, marks and placeholders, and what the placeholders stand for. */
export interface Reading {
  readonly tokens: readonly Token[]
  readonly protectedPieces: readonly string[]
}

/** A word as it was written, a mark of punctuation, or a placeholder. */
export interface Token {
  readonly kind: 'word' | 'mark' | 'protected'
  readonly text: string
}

/** Takes a text of one paragraph apart; `undefined` when it is not clear where a quotation begins or ends. */
export function readText(text: string): Reading | undefined {
  const protectedPieces: string[] = []
  const whole = (text: string) => [...text].map((one) => protectedPieces[placeOf(one) ?? -1] ?? one).join('')
  const protect = (chunk: string): string => {
    const piece = whole(chunk)
    protectedPieces.push(piece)
    return placeholderOf(piece, protectedPieces.length - 1)
  }
  const bare = text
    .replace(SPAN, (span) => protect(withStraightMarks(span)))
    .replace(DASH_IN_RANGE, '-')
    .replaceAll('…', '...')
  if (QUOTATION_MARK.test(bare)) return undefined
  const tokens = bare
    .split(/\s+/u)
    .filter((chunk) => chunk !== '')
    .flatMap((chunk) => tokensOf(chunk, protect))
  return protectedPieces.length * 2 > KIND_SIZE ? undefined : { tokens, protectedPieces }
}

/** The same span between straight marks; what it quotes stays. */
function withStraightMarks(span: string): string {
  if (span.startsWith('“')) return `"${span.slice(1, -1)}"`
  return span.startsWith('‘') ? `'${span.slice(1, -1)}'` : span
}

/** The placeholder of the protected piece at a place: its kind can be read off it. */
export function placeholderOf(piece: string, place: number): string {
  const kind = NUMBER.test(piece) ? 0 : QUOTED.test(piece) ? 1 : 2
  return String.fromCharCode(FIRST_PLACEHOLDER + kind * KIND_SIZE + place)
}

/** Where the piece of a placeholder is kept; `undefined` for anything else. */
export function placeOf(text: string | undefined): number | undefined {
  const code = text?.length === 1 ? text.charCodeAt(0) - FIRST_PLACEHOLDER : -1
  return code < 0 || code >= 3 * KIND_SIZE ? undefined : code % KIND_SIZE
}

function tokensOf(chunk: string, protect: (piece: string) => string): Token[] {
  const { core = '', ending = '' } = CHUNK.exec(chunk)?.groups ?? {}
  if (core === '') return [...ending].map((mark) => ({ kind: 'mark', text: mark }))
  const isPlaceholder = placeOf(core) !== undefined
  const isDetached =
    isPlaceholder || (ending.includes('!') ? A_WORD : LONG_ENOUGH).test(core) || /^[,;:?]$/.test(ending)
  if (ending !== '' && !isDetached) return [{ kind: 'protected', text: protect(chunk) }]
  const marks: Token[] = [...ending].map((mark) => ({ kind: 'mark', text: mark }))
  if (isPlaceholder) return [{ kind: 'protected', text: core }, ...marks]
  if (WORD.test(core)) return [{ kind: 'word', text: core.replaceAll('’', "'") }, ...marks]
  return [{ kind: 'protected', text: protect(core) }, ...marks]
}

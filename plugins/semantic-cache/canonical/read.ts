/**
 * DESIGN — protected pieces, which are never rewritten
 *
 *   How do I run `git  log` on "Main Branch", v1.2?
 *   how do i run ◆          on ◆            , ◆   ?      ◆ = one protected piece, unchanged
 *
 * Quoted text, code spans, and every chunk that holds a digit, a symbol, a letter beyond ASCII or a mixture of cases are
 * protected: rules see a placeholder, and can move or keep it, never change it. Placeholders are private-use characters,
 * which no text has here: texts with invisible characters are not read.
 */
const FIRST_PLACEHOLDER = 0xe000
/** Most pieces of one kind; a text with more is not parsed. */
const KIND_SIZE = 0x400

/**
 * Placeholders by kind, for patterns: `number` begins with a digit, `mixed` also has a letter or a colon, `sum` has
 * neither (`-7`, `+`, `15%`).
 */
export const PLACEHOLDERS = {
  number: '[\ue000-\ue7ff]',
  mixed: '[\ue400-\ue7ff]',
  sum: '[\ue000-\ue3ff\ue800-\uebff]',
  quote: '[\uec00-\uefff]',
  any: '[\ue000-\uf3ff]',
} as const

const SPAN = /(?<![^\s(])(?:`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|'[^'\n]+'|‘[^’\n]+’)(?=[\s,;:.?!)]|$)/gu
/** Matches a dash in a range, which is not part of a span. */
const DASH_IN_RANGE = /(?<=\d)–(?=\d)/gu
/** Matches the mark behind a word; alone it may be the subject. */
const TRAILING_DOTS = /(?<=\p{L}{2})…(?=\s|$)/gu
const QUOTATION_MARK = /["“”«»„`‘]|(?<![^\s(])'|(?<!\p{L})’/u
const NUMBER = /^\d/
const MIXED = /[\p{L}:]/u
const QUOTED = /^[`"“']/u
const WORD = /^[A-Za-z]+(?:['’][A-Za-z]+)*['’]?(?:-[A-Za-z]+(?:['’][a-z]+)*)*$/
const CHUNK = /^(?<core>.*?)(?<ending>[,;:.?!]*)$/su
/** Matches text before a mark that ends a phrase: a word, a number, a span; not `n!`, `a?`, `5!`. */
const A_WORD = /^\p{L}[\p{L}'’-]*[\p{L}'’]$/u
const LONG_ENOUGH = /^[\p{L}][\p{L}'’-]*[\p{L}'’]$|^[^\p{L}]*\d$|^.{2,}[\p{L}\d%)]{2}$/su

/** Parsed text: chunks of words, marks and placeholders, and the protected pieces. */
export interface Reading {
  readonly tokens: readonly Token[]
  readonly protectedPieces: readonly string[]
}

/** Word in its original form, punctuation mark, or placeholder. */
export interface Token {
  readonly kind: 'word' | 'mark' | 'protected'
  readonly text: string
}

/** Parses a text of one paragraph; `undefined` when the bounds of a quotation are unclear. */
export function readText(text: string): Reading | undefined {
  const protectedPieces: string[] = []
  const whole = (text: string) => [...text].map((one) => protectedPieces[placeholderIndex(one) ?? -1] ?? one).join('')
  const protect = (chunk: string): string => {
    const piece = whole(chunk)
    protectedPieces.push(piece)
    return placeholderOf(piece, protectedPieces.length - 1)
  }
  const bare = text
    .replace(SPAN, (span) => protect(span))
    .replace(DASH_IN_RANGE, '-')
    .replace(TRAILING_DOTS, '...')
  if (QUOTATION_MARK.test(bare)) return undefined
  const tokens = bare
    .split(/\s+/u)
    .filter((chunk) => chunk !== '')
    .flatMap((chunk) => tokensOf(chunk, protect))
  return protectedPieces.length * 2 > KIND_SIZE ? undefined : { tokens, protectedPieces }
}

/** Returns the placeholder of the protected piece at an index; it encodes the kind. */
export function placeholderOf(piece: string, place: number): string {
  const isMixed = MIXED.test(piece)
  const kind = NUMBER.test(piece) ? (isMixed ? 1 : 0) : QUOTED.test(piece) ? 3 : isMixed ? 4 : 2
  return String.fromCharCode(FIRST_PLACEHOLDER + kind * KIND_SIZE + place)
}

/** Returns the index of a placeholder's piece; `undefined` for other text. */
export function placeholderIndex(text: string | undefined): number | undefined {
  const code = text?.length === 1 ? text.charCodeAt(0) - FIRST_PLACEHOLDER : -1
  return code < 0 || code >= 5 * KIND_SIZE ? undefined : code % KIND_SIZE
}

function tokensOf(chunk: string, protect: (piece: string) => string): Token[] {
  const { core = '', ending = '' } = CHUNK.exec(chunk)?.groups ?? {}
  if (core === '') return [...ending].map((mark) => ({ kind: 'mark', text: mark }))
  const isPlaceholder = placeholderIndex(core) !== undefined
  const isDetached =
    isPlaceholder || (ending.includes('!') ? A_WORD : LONG_ENOUGH).test(core) || /^[,;:?]$/.test(ending)
  if (ending !== '' && !isDetached) return [{ kind: 'protected', text: protect(chunk) }]
  const marks: Token[] = [...ending].map((mark) => ({ kind: 'mark', text: mark }))
  if (isPlaceholder) return [{ kind: 'protected', text: core }, ...marks]
  if (WORD.test(core)) return [{ kind: 'word', text: core.replaceAll('’', "'") }, ...marks]
  return [{ kind: 'protected', text: protect(core) }, ...marks]
}

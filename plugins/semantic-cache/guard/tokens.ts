/** What a token is, as far as its letters tell. */
export type TokenKind = 'word' | 'number' | 'code' | 'quote' | 'symbol'

/** A piece of a prompt. */
export interface Token {
  readonly kind: TokenKind
  /** As it was written, without quotation marks. */
  readonly raw: string
  /** What is compared: lower case but in code; numbers without separators. */
  readonly key: string
  /** Where it stands in the text. */
  readonly at: number
  /** Joined to a neighbour by a hyphen: no small word then. */
  readonly isCompounded?: boolean
}

// Alternatives in the order in which they are tried. A slash makes a path only where a dot or a second slash is near it.
const PIECES = [
  /`(?<fenced>[^`]+)`/u,
  /"(?<double>[^"]{1,400})"|“(?<curly>[^”]{1,400})”|(?<![\p{L}\p{N}])'(?<single>[^'\n]{2,400})'(?![\p{L}\p{N}])/u,
  /(?<path>https?:\/\/[^\s,;?!)]+|(?:~|\.{1,2})?(?:\/[\w@.-]+){2,}\/?|[\w@-]+(?:\/[\w@.-]+)*\/[\w@-]+\.\w{1,8}|[\w@-]+(?:\/[\w@-]+){2,})/u,
  /(?<flag>(?<=\s)--?[A-Za-z][\w-]*)/u,
  /(?<mixed>\p{L}+-?\d[\p{L}\d]*(?:[.-]\d[\p{L}\d]*)*|\d+\p{L}+\d[\p{L}\d]*|\d\p{Lu}{1,2}(?![\p{L}\d]))/u,
  /(?<number>(?<![\p{L}\p{N}\p{M})\]}%°_.-])-?(?:\d+(?:[.,:]\d+)*|\.\d+)|\d+(?:[.,:]\d+)*)/u,
  /(?<word>[\p{L}_][\p{L}\p{M}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*(?:\+\+|#(?!\d))?)/u,
  /(?<symbol><=|>=|==|!=|&&|\|\||[-*/%#@]|\p{S}|\p{N}+|\p{M})/u,
]
const PIECE = new RegExp(PIECES.map(({ source }) => source).join('|'), 'gu')

const CAMEL = /^\p{Ll}+\p{Lu}|^\p{Lu}\p{Ll}+\p{Lu}\p{Ll}|_|\.|\+\+|#/u
const THOUSANDS = /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
const TRAILING_ZEROS = /(\.\d*?)0+$/
const HYPHEN_BEFORE = /[\p{L}\p{N}]-$/u
const HYPHEN_AFTER = /^-[\p{L}\p{N}]/u
const LETTER = /\p{L}/u
/** A dash between words that are joined or set apart says nothing. */
const DASH_BETWEEN_NUMBERS = /[\d)]\s?$/

/** Dashes of all lengths, and the minus sign, where a number follows. */
const DASH_BEFORE_NUMBER = /[\u2010-\u2015\u2212\uFE63\uFF0D](?=\.?\d)/gu

/** Cuts a text into tokens. Punctuation is left out; every symbol, number-like letter and mark without a letter is one. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const signed = text.replace(DASH_BEFORE_NUMBER, '-')
  for (const match of signed.matchAll(PIECE)) {
    const token = toToken(match, signed)
    if (token !== undefined) tokens.push(token)
  }
  return tokens
}

function toToken({ 0: whole, index: at, groups = {} }: RegExpExecArray, text: string): Token | undefined {
  const code = groups.fenced ?? groups.flag
  if (code !== undefined) return { kind: 'code', raw: code, key: code.trim(), at }
  const quote = groups.double ?? groups.curly ?? groups.single
  if (quote !== undefined)
    return { kind: 'quote', raw: quote, key: quote.trim().replace(/\s+/g, ' ').toLowerCase(), at }
  if (groups.path !== undefined || groups.mixed !== undefined)
    return { kind: 'code', raw: whole, key: whole.toLowerCase(), at }
  if (groups.number !== undefined) return { kind: 'number', raw: whole, key: plainNumber(whole), at }
  if (groups.word !== undefined)
    return {
      kind: CAMEL.test(whole) ? 'code' : 'word',
      raw: whole,
      key: whole.toLowerCase(),
      at,
      isCompounded:
        HYPHEN_BEFORE.test(text.slice(Math.max(0, at - 2), at)) ||
        HYPHEN_AFTER.test(text.slice(at + whole.length, at + whole.length + 2)),
    }
  return isHyphen(whole, at, text) ? undefined : { kind: 'symbol', raw: whole, key: whole, at }
}

function isHyphen(symbol: string, at: number, text: string): boolean {
  if (symbol !== '-') return false
  return !DASH_BETWEEN_NUMBERS.test(text.slice(Math.max(0, at - 2), at)) || LETTER.test(text.charAt(at + 1))
}

function plainNumber(digits: string): string {
  const joined = THOUSANDS.test(digits) ? digits.replaceAll(',', '') : digits
  return joined.split('.').length === 2 ? joined.replace(TRAILING_ZEROS, '$1').replace(/\.$/, '') : joined
}

import { textOf } from './stream-text.ts'
import { HALVES, tokenBound } from './text-bound.ts'

/**
 * DESIGN: upper bound on the tokens of deltas, most of which are not parsed
 *
 *   {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"  word  "}}
 *   └───────── opening: the same bytes in each delta of a block ─────────────────┘text └──┘ closing
 *
 * A delta is parsed to learn the opening of its text. The next ones with that opening are read in place, up to the quote
 * that ends the text: behind it only the two closing braces may follow, so there is no other text. Any other delta is parsed.
 */
const TEXT_MEMBER = /"(?:text|partial_json|thinking)"\s*:/g
const CLOSING = '"}}'
const [QUOTE, BACKSLASH, BRACE, SPACE, U] = [34, 92, 125, 32, 117] as const

/** Bounds the tokens of a stream's deltas, given one after another. */
export class DeltaBound {
  /** Bytes of the latest parsed delta up to its text. */
  #opening: Buffer | undefined

  /** Returns the most tokens of the delta in these bytes of `source`. */
  tokens(source: Buffer, start: number, end: number): number {
    const halves = this.#opensAlike(source, start, end) ? halvesOfText(source, start + this.#length, end) : UNREADABLE
    return halves === UNREADABLE ? this.#parsed(source.toString('utf8', start, end)) : Math.ceil(halves / 2)
  }

  get #length(): number {
    return this.#opening?.length ?? 0
  }

  #opensAlike(source: Buffer, start: number, end: number): boolean {
    const opening = this.#opening
    if (opening === undefined || end - start < opening.length) return false
    for (let i = 0; i < opening.length; i++) if (source[start + i] !== opening[i]) return false
    return true
  }

  #parsed(data: string): number {
    const text = textOf(data)
    this.#opening = openingOf(data.trimEnd(), text)
    return tokenBound(text)
  }
}

const UNREADABLE = -1

/** Returns the bytes before the text; `undefined` where the text is not the last and only one, or has escapes. */
function openingOf(data: string, text: string): Buffer | undefined {
  if (!data.endsWith(`"${text}${CLOSING}`)) return undefined
  const opening = data.slice(0, data.length - text.length - CLOSING.length)
  const [member, ...others] = opening.matchAll(TEXT_MEMBER)
  const isLast = member !== undefined && member.index + member[0].length === opening.length - 1
  return isLast && others.length === 0 ? Buffer.from(opening) : undefined
}

/** Returns the halves of tokens of a JSON string from `start`, when only the closing braces follow it. */
function halvesOfText(source: Buffer, start: number, end: number): number {
  let halves = 0
  let at = start
  for (; at < end; at++) {
    // Safe: before the end.
    const code = source[at] as number
    if (code === QUOTE) break
    if (code < SPACE) return UNREADABLE
    halves += HALVES[code] as number
    // The character of an escape counts as one sign, except by its number.
    if (code === BACKSLASH && source[++at] === U) return UNREADABLE
  }
  if (source[at + 1] !== BRACE || source[at + 2] !== BRACE) return UNREADABLE
  for (at += CLOSING.length; at < end; at++) if (source[at] !== SPACE) return UNREADABLE
  return at === end ? halves : UNREADABLE
}

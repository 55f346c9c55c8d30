/**
 * DESIGN — untrusted text on a terminal
 *
 * A model's name, a tool's or an error's comes from clients and providers. Printed as it is, it could move the cursor,
 * set the title, write into the clipboard (OSC 52) or turn the direction of what follows.
 *
 *   text ──► visible() ──► toWidth() ──► the terminal
 *
 * Guarantees: the output of `visible` has no control character (C0, C1, DEL), no invisible one (direction, zero
 * width, tags), no line end and no lone surrogate. `toWidth` returns exactly as many columns as requested.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu
const ASCII = /^[\x20-\x7e]*$/
/** Matches characters of two columns (Unicode's East Asian Width, as far as terminals agree). */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u
/** Matches characters of no width. */
const COMBINING = /\p{Mn}|\p{Me}/u
const CUT = '…'

/** Returns a text on one line, with every invisible character replaced. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase()}⟩`
  })
}

/** Returns JSON on one line, with terminal control characters escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** Returns the width of a visible text in columns. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += widthOf(character)
  return columns
}

/** Fits a visible text to exactly `columns`: cuts it with `…`, or pads it at its end (`start`: at its beginning). */
export function toWidth(text: string, columns: number, fill: 'start' | 'end' = 'end'): string {
  const short = columnsOf(text) <= columns ? text : cut(text, columns)
  const space = ' '.repeat(columns - columnsOf(short))
  return fill === 'end' ? short + space : space + short
}

function cut(text: string, columns: number): string {
  let kept = ''
  let left = columns - 1
  for (const character of text) {
    left -= widthOf(character)
    if (left < 0) break
    kept += character
  }
  return columns < 1 ? '' : kept + CUT
}

function widthOf(character: string): number {
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

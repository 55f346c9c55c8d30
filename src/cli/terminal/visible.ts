/**
 * DESIGN — texts of strangers on a terminal
 *
 * A model's name, a tool's or an error's comes from whoever sends requests. Printed as it is, it could move the cursor,
 * set the title, write into the clipboard (OSC 52) or turn the direction of what follows.
 *
 *   text ──► visible() ──► toWidth() ──► the terminal
 *
 * Guarantees: what `visible` gives holds no control character (C0, C1, DEL), none that is not seen (direction, zero
 * width, tags), no line end and no half of a pair. `toWidth` gives exactly so many columns.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu
const ASCII = /^[\x20-\x7e]*$/
/** Takes two columns (Unicode's East Asian Width, as far as terminals agree). */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u
/** Takes none. */
const COMBINING = /\p{Mn}|\p{Me}/u
const CUT = '…'

/** A text whose every character can be seen, on one line. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase()}⟩`
  })
}

/** JSON on one line; what a terminal could obey is escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** How many columns a visible text takes. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += widthOf(character)
  return columns
}

/** A visible text in exactly `columns`: cut with `…`, or filled up at its end (`start`: at its beginning). */
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

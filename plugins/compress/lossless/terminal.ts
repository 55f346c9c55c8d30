// Invisible control sequences: colours, cursor moves, titles.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g
/** Matches sequences that erase the line behind the cursor, or all of it. */
const ERASES = /\u001b\[[02]?K/
// The look-behind lets a match begin only at the first blank: otherwise a long run is retried from each position.
const TRAILING_SPACE = /(?<![ \t])[ \t]+(?=\n|$)/g

/** Returns the text that remains on a terminal's screen: without colours, overwritten states and trailing spaces. */
export function stripTerminal(text: string): string {
  const shown = text.includes('\r') ? text.split('\n').map(withoutOverwritten).join('\n') : text
  return withoutEscapes(shown).replace(TRAILING_SPACE, '')
}

function withoutEscapes(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text
}

/**
 * Removes the states of a line that a later one covers completely, as in a progress bar. A carriage return by itself
 * erases nothing: of `ERROR: no such table\rok` a terminal overwrites two characters, so the line is unchanged.
 */
function withoutOverwritten(line: string): string {
  if (!line.includes('\r')) return line
  const states = line.split('\r')
  const kept: string[] = []
  let covered = 0
  for (const state of states.toReversed()) {
    const plain = withoutEscapes(state)
    const width = widthOf(plain)
    if (plain !== '' && width.most > covered) kept.push(state)
    covered = Math.max(covered, ERASES.test(state) ? Number.POSITIVE_INFINITY : width.least)
  }
  return kept.toReversed().join('\r')
}

/** Matches characters of two columns, and those of zero or any width. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu
const UNSURE = /[\p{M}\p{C}\u200b-\u200f]/gu
const ASCII = /^[ -~]*$/

/** Returns the least and the greatest width of a text in columns. */
function widthOf(text: string): { least: number; most: number } {
  if (ASCII.test(text)) return { least: text.length, most: text.length }
  const length = [...text].length
  return {
    least: length - count(text, UNSURE),
    most: text.includes('\t') ? Number.POSITIVE_INFINITY : length + count(text, WIDE),
  }
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

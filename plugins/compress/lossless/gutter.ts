/**
 * Matches the number that a file reader writes before each line, with the padding before it: `     7→`, ` 7\t`, `7:`,
 * `7 |`.
 */
const GUTTER = /^(?: *(\d{1,7})[→\t]|(\d{1,7})(?::| ?\|))/

/** Returns a line's number and the width of its gutter; `undefined` for a line without a gutter. */
export function gutterOf(line: string): { number: number; width: number } | undefined {
  const first = line.charCodeAt(0)
  // A space or a digit; this rejects most lines early.
  if (first !== 32 && (first < 48 || first > 57)) return undefined
  const match = GUTTER.exec(line)
  return match === null ? undefined : { number: Number(match[1] ?? match[2]), width: match[0].length }
}

/** Fewest numbered lines of a text with a gutter. */
const LEAST_NUMBERED_LINES = 3

/**
 * Returns the line numbers of a text that has a gutter, 0 for lines outside it; `undefined` for a text without one.
 * First columns are line numbers only if they count up by one, line by line: ids of a table and hours of a log do not.
 */
export function lineNumbers(lines: readonly string[]): number[] | undefined {
  const found = lines.map((line) => gutterOf(line)?.number ?? 0)
  let numbered = 0
  for (const [index, number] of found.entries()) {
    if (number === 0) continue
    const previous = found[index - 1] ?? 0
    if (previous > 0 && previous + 1 !== number) return undefined
    // A number without a neighbour is a time of day or the like.
    if (previous === 0 && (found[index + 1] ?? 0) === 0) found[index] = 0
    else numbered++
  }
  return numbered >= LEAST_NUMBERED_LINES ? found : undefined
}

const PADDING = /^ +(?=\d{1,7}[→\t])/

/** Removes the padding that right-aligns line numbers. */
export function stripPadding(text: string): string {
  if (!text.includes('→') && !text.includes('\t')) return text
  const lines = text.split('\n')
  const numbers = lineNumbers(lines)
  if (numbers === undefined) return text
  return lines.map((line, index) => (numbers[index] === 0 ? line : line.replace(PADDING, ''))).join('\n')
}

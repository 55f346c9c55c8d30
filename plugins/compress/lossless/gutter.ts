/** The number that a file reader writes before each line, with the padding before it: `     7→`, ` 7\t`, `7:`, `7 |`. */
const GUTTER = /^ *(\d{1,7})(?:→|\t|:| ?\|)/

/** A line's number and where its own text begins; `undefined` for a line without a gutter. */
export function gutterOf(line: string): { number: number; width: number } | undefined {
  const first = line.charCodeAt(0)
  // A space or a digit: most lines are told apart here.
  if (first !== 32 && (first < 48 || first > 57)) return undefined
  const match = GUTTER.exec(line)
  return match === null ? undefined : { number: Number(match[1]), width: match[0].length }
}

const PADDING = /^ +(?=\d{1,7}(?:→|\t))/gm

/** Takes the padding away that right-aligns line numbers. */
export function stripPadding(text: string): string {
  return text.includes('→') || text.includes('\t') ? text.replace(PADDING, '') : text
}

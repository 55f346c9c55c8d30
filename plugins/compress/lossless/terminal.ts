// What a terminal would not show: colours, cursor moves, titles.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g
// The look behind lets a match begin only where blanks do: else a long run of them is tried from each of its places.
const TRAILING_SPACE = /(?<![ \t])[ \t]+(?=\n|$)/g

/** The text that stays on a terminal's screen: without colours, what was overwritten, and spaces at the ends of lines. */
export function stripTerminal(text: string): string {
  const plain = stripColours(text)
  const final = plain.includes('\r') ? plain.split('\n').map(lastState).join('\n') : plain
  return final.replace(TRAILING_SPACE, '')
}

/** The same for a file's text, whose spaces count: without colours only. */
export function stripColours(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text
}

/** What a line shows after carriage returns: a progress bar's last state. */
function lastState(line: string): string {
  return line.split('\r').findLast((state) => state !== '') ?? ''
}

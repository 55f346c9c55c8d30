// What a terminal would not show: colours, cursor moves, titles.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g
const TRAILING_SPACE = /[ \t]+(?=\n|$)/g
/** What a carriage return has written over: a progress bar's earlier states. */
const OVERWRITTEN = /[^\n\r]*\r(?=[^\n\r])/g
const LINE_END = /\r+\n/g

/** The text that stays on a terminal's screen: without colours, what was overwritten, and spaces at the ends of lines. */
export function stripTerminal(text: string): string {
  const plain = text.includes('\u001b') ? text.replace(ESCAPES, '') : text
  const final = plain.includes('\r') ? plain.replace(LINE_END, '\n').replace(OVERWRITTEN, '') : plain
  return final.replace(TRAILING_SPACE, '')
}

/** The same for a file's text, whose spaces count: without colours only. */
export function stripColours(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text
}

import { ScanError } from './scan-error.ts'

export const QUOTE = 34
export const BACKSLASH = 92
/** Characters of a string that are read one by one in search of its closing quote. */
const NEAR = 4

/** Returns the byte offset after the string whose opening quote is at `start`. Throws `ScanError`. */
export function skipString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1)
  if (quote < 0) throw new ScanError('a string is not closed', text.length)
  return text.charCodeAt(quote - 1) === BACKSLASH && isEscaped(text, quote)
    ? skipEscaped(text, start, quote)
    : quote + 1
}

/** Escaped quotes of a string from which on its end is remembered. */
const MANY_QUOTES = 16
const MOST_REMEMBERED = 4096
/**
 * Ends of strings with many escaped quotes, by their start: a reader that goes level by level passes each string of the document
 * once a level. Of the text that was read last, until the loop's next turn.
 */
const ends = new Map<number, number>()
let readText = ''

function skipEscaped(text: string, start: number, firstQuote: number): number {
  let quote = firstQuote
  for (let passed = 1; ; passed++) {
    quote = nextQuote(text, quote + 1)
    if (quote < 0) throw new ScanError('a string is not closed', text.length)
    const isEnd = text.charCodeAt(quote - 1) !== BACKSLASH || !isEscaped(text, quote)
    if (isEnd && passed < MANY_QUOTES) return quote + 1
    if (passed === MANY_QUOTES) {
      takeText(text)
      const end = ends.get(start)
      if (end !== undefined) return end
    }
    if (!isEnd) continue
    if (ends.size < MOST_REMEMBERED) ends.set(start, quote + 1)
    return quote + 1
  }
}

/** Makes it the text whose ends are remembered. It takes time for another text of the same length, and none for the same. */
function takeText(text: string): void {
  if (text !== readText) {
    if (readText === '') setImmediate(forget)
    ends.clear()
  }
  readText = text
}

function forget(): void {
  readText = ''
  ends.clear()
}

/** Finds the next quote: near ones by reading, since escaped quotes may be dense (quoted JSON), others by a search. */
function nextQuote(text: string, start: number): number {
  for (let at = start; at < start + NEAR; at++) if (text.charCodeAt(at) === QUOTE) return at
  return text.indexOf('"', start + NEAR)
}

/** Returns whether an odd number of backslashes precedes the quote. The string's own opening quote ends the count. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 2
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (quote - before) % 2 === 0
}

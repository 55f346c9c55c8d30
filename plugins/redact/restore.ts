import type { Exchange } from 'turnpike/plugin'
import { PREFIX } from './placeholders.ts'

/** Functions that put the values of one request back into its reply. */
export interface Restorer {
  readonly text: Parameters<Exchange['mapText']>[0]
  /** Restores the JSON text of arguments: values are escaped for the strings that they are in. */
  readonly input: Parameters<Exchange['mapToolInputText']>[0]
}

const WORD = /^[A-Z0-9_]*$/

/**
 * Creates the restorer of a request. A placeholder that is not among `values` stays: the model made it up. In a stream,
 * only characters that may begin one of them are held back.
 */
export function createRestorer(values: ReadonlyMap<string, string>): Restorer {
  const placeholders = [...values.keys()].sort()
  const longest = placeholders.reduce((most, { length }) => Math.max(most, length), 0)
  const known = { values, placeholders, longest }
  return {
    text: (text, { isLast }) => restored(text, { ...known, isLast, written: (value) => value }),
    input: (json, { isLast }) => restored(json, { ...known, isLast, written: escaped }),
  }
}

interface Restoring {
  readonly values: ReadonlyMap<string, string>
  /** The keys of `values`, sorted. */
  readonly placeholders: readonly string[]
  readonly longest: number
  readonly isLast: boolean
  readonly written: (value: string) => string
}

function restored(text: string, restoring: Restoring): { text: string; keep: number } {
  const { values, longest, isLast, written } = restoring
  const parts: string[] = []
  let done = 0
  for (let at = text.indexOf(PREFIX); at !== -1; ) {
    const end = placeholderEnd(text, at, longest)
    const value = values.get(text.slice(at, end))
    if (value !== undefined) {
      parts.push(text.slice(done, at), written(value))
      done = end
    }
    at = text.indexOf(PREFIX, Math.max(done, at + PREFIX.length))
  }
  // Only what follows the last placeholder can be open: its own letters, too, may look like a beginning.
  const keep = isLast ? 0 : openLength(text, done, restoring)
  parts.push(text.slice(done, text.length - keep))
  return { text: parts.join(''), keep }
}

function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

/** Reads `REDACTED_`, the kind and twelve characters: what follows without a space may be the rest of a name. */
function placeholderEnd(text: string, start: number, longest: number): number {
  const piece = text.slice(start, start + longest)
  return start + (/^REDACTED_(?:[A-Z]+_)+?[0-9A-HJKMNP-TV-Z]{12}/.exec(piece)?.[0].length ?? 0)
}

/** Counts the characters at the end, from `done` on, that may begin a placeholder. */
function openLength(text: string, done: number, { placeholders, longest }: Restoring): number {
  const from = Math.max(done, text.length - longest + 1)
  for (let at = text.indexOf(PREFIX.charAt(0), from); at !== -1; at = text.indexOf(PREFIX.charAt(0), at + 1)) {
    const tail = text.slice(at)
    if (WORD.test(tail) && beginsOne(tail, placeholders)) return tail.length
  }
  return 0
}

/** Tests by bisection whether a sorted placeholder begins with the text and is longer. */
function beginsOne(text: string, placeholders: readonly string[]): boolean {
  let low = 0
  let high = placeholders.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((placeholders[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  // The first one that is not smaller; an equal one is complete.
  const next = placeholders[low] === text ? placeholders[low + 1] : placeholders[low]
  return next?.startsWith(text) === true
}

import type { Exchange } from 'turnpike/plugin'
import { PREFIX } from './placeholders.ts'

/** Functions that put the values of one request back into its reply. */
export interface Restorer {
  readonly text: Parameters<Exchange['mapText']>[0]
  /** Restores the JSON text of arguments: values are escaped for the strings that they are in. */
  readonly input: (json: string) => string
}

const WORD = /^[A-Z0-9_]*$/

/**
 * Creates the restorer of a request. A placeholder that is not among `values` stays: the model made it up. In a stream,
 * only characters that may begin one of them are held back.
 */
export function createRestorer(values: ReadonlyMap<string, string>): Restorer {
  const placeholders = [...values.keys()].sort()
  const longest = placeholders.reduce((most, { length }) => Math.max(most, length), 0)
  const restored = (text: string, printed: (value: string) => string) => replaced(text, { values, longest, printed })
  return {
    text(text, { isLast }) {
      const keep = isLast ? 0 : openLength(text, placeholders, longest)
      return { text: restored(text.slice(0, text.length - keep), (value) => value), keep }
    },
    input: (json) => restored(json, (value) => JSON.stringify(value).slice(1, -1)),
  }
}

interface Replacing {
  readonly values: ReadonlyMap<string, string>
  readonly longest: number
  readonly printed: (value: string) => string
}

function replaced(text: string, { values, longest, printed }: Replacing): string {
  let at = text.indexOf(PREFIX)
  if (at === -1) return text
  const parts: string[] = []
  let done = 0
  for (; at !== -1; at = text.indexOf(PREFIX, at + PREFIX.length)) {
    const end = placeholderEnd(text, at, longest)
    const value = values.get(text.slice(at, end))
    if (value === undefined) continue
    parts.push(text.slice(done, at), printed(value))
    done = end
  }
  parts.push(text.slice(done))
  return parts.join('')
}

/** Reads `REDACTED_`, the kind and twelve characters: what follows without a space may be the rest of a name. */
function placeholderEnd(text: string, start: number, longest: number): number {
  const piece = text.slice(start, start + longest)
  return start + (/^REDACTED_(?:[A-Z]+_)+?[0-9A-HJKMNP-TV-Z]{12}/.exec(piece)?.[0].length ?? 0)
}

/** Counts the characters at the end that may begin a placeholder. */
function openLength(text: string, placeholders: readonly string[], longest: number): number {
  const from = Math.max(0, text.length - longest + 1)
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

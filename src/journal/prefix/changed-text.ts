import { CHUNK } from './chunks.ts'

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\\.?'
const DAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'

/** Kinds of text that change from request to request, the most telling first. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['a date and time', /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?/g],
  [
    'a date',
    new RegExp(
      `\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}|\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2,4}|${MONTH} \\d{1,2}(?:, \\d{4})?|\\d{1,2}\\.? ${MONTH}(?: \\d{4})?|${DAY}`,
      'g',
    ),
  ],
  ['a time', /\d{1,2}:\d{2}(?::\d{2})?/g],
  ['an id', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[0-9a-f]*\d)[0-9a-f]{12,64}/gi],
  ['a path', /(?:\/[\w.@-]{1,60}){2,20}|[A-Z]:\\[\w.\\-]{1,100}/g],
  ['a number', /\d{1,20}(?:[.,]\d{1,10})?/g],
]
/** Characters around a changed chunk in which the changed word may begin or end. */
const AROUND = 64

/**
 * Describes the place of a change in a text whose characters are equal up to `start`, and differ within the 16 from there:
 * `at character 812: a date` where a text of a known kind lies there, else `between characters 800 and 815`.
 */
export function describeChange(text: string, start: number): string {
  if (start >= text.length) return `at its end, character ${text.length}`
  const from = Math.max(0, start - AROUND)
  const near = text.slice(from, start + CHUNK + AROUND)
  for (const [kind, pattern] of KINDS) {
    for (const match of near.matchAll(pattern)) {
      const at = from + match.index
      if (at < start + CHUNK && at + match[0].length > start) return `at character ${at}: ${kind}`
    }
  }
  return `between characters ${start} and ${Math.min(start + CHUNK, text.length) - 1}`
}

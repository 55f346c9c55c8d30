import type { Finding } from './finding.ts'

const BEGIN = '-----BEGIN '
const DASHES = '-----'
const SHORTEST_BODY = 20
/** A line as coding agents show it to models: its number, an arrow, a tab or a bar, and its text. */
const NUMBERED_LINE = /(\n {0,8}\d{1,7}(?:→|\t|[|:] ?))([A-Za-z0-9+/=]{2,})(?!\S)/g
const LABEL = /(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
const END_LABEL = /-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
/** Characters of the body, including headers such as `Proc-Type: 4,ENCRYPTED` and escaped line ends. */
const BODY = /^[A-Za-z0-9+/=\s\\:,.()|→-]*/

/** Finds private keys in PEM (RFC 7468, OpenSSH, PGP), with both marks; one that is cut extends to the end of its letters. */
export function privateKeysIn(text: string, found: Finding[]): void {
  for (let start = text.indexOf(BEGIN); start !== -1; start = text.indexOf(BEGIN, start + BEGIN.length)) {
    LABEL.lastIndex = start + BEGIN.length
    if (!LABEL.test(text)) continue
    const labelEnd = LABEL.lastIndex
    const end = endOfKey(text, labelEnd)
    if (end - labelEnd > SHORTEST_BODY) found.push(...findingsOf(text, start, end))
  }
}

/** Returns the key as one finding; behind line numbers each line of its body, so that a model copies it without the numbers. */
function findingsOf(text: string, start: number, end: number): Finding[] {
  const key = text.slice(start, end)
  const lines = [...key.matchAll(NUMBERED_LINE)]
  if (lines.length === 0) return [{ start, end, kind: 'private_key' }]
  return lines.map(({ index, 1: prefix = '', 2: line = '' }) => {
    const lineStart = start + index + prefix.length
    return { start: lineStart, end: lineStart + line.length, kind: 'private_key' }
  })
}

/** Reads up to the next dashes only, so that the work is linear also for many beginnings without an end. */
function endOfKey(text: string, labelEnd: number): number {
  const dashes = text.indexOf(DASHES, labelEnd)
  END_LABEL.lastIndex = dashes
  if (dashes !== -1 && END_LABEL.test(text)) return END_LABEL.lastIndex
  const rest = dashes === -1 ? text.slice(labelEnd) : text.slice(labelEnd, dashes)
  return labelEnd + (BODY.exec(rest)?.[0].length ?? 0)
}

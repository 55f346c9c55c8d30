import type { Finding } from './finding.ts'

const BEGIN = '-----BEGIN '
const DASHES = '-----'
const SHORTEST_BODY = 20
const LABEL = /(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
const END_LABEL = /-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
/** Characters of the body, including headers such as `Proc-Type: 4,ENCRYPTED` and escaped line ends. */
const BODY = /^[A-Za-z0-9+/=\s\\:,.()-]*/

/** Finds private keys in PEM (RFC 7468, OpenSSH, PGP), with both marks; one that is cut extends to the end of its letters. */
export function privateKeysIn(text: string, found: Finding[]): void {
  for (let start = text.indexOf(BEGIN); start !== -1; start = text.indexOf(BEGIN, start + BEGIN.length)) {
    LABEL.lastIndex = start + BEGIN.length
    if (!LABEL.test(text)) continue
    const labelEnd = LABEL.lastIndex
    const end = endOfKey(text, labelEnd)
    if (end - labelEnd > SHORTEST_BODY) found.push({ start, end, kind: 'private_key' })
  }
}

/** Reads up to the next dashes only, so that the work is linear also for many beginnings without an end. */
function endOfKey(text: string, labelEnd: number): number {
  const dashes = text.indexOf(DASHES, labelEnd)
  END_LABEL.lastIndex = dashes
  if (dashes !== -1 && END_LABEL.test(text)) return END_LABEL.lastIndex
  const rest = dashes === -1 ? text.slice(labelEnd) : text.slice(labelEnd, dashes)
  return labelEnd + (BODY.exec(rest)?.[0].length ?? 0)
}

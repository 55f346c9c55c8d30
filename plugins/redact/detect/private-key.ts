import type { Finding } from './finding.ts'

const BEGIN = '-----BEGIN '
const DASHES = '-----'
const SHORTEST_BODY = 20
/** Shortest line of a key that is cut: shorter ones may be words of what follows. */
const SHORTEST_LINE = 16
const LABEL = /(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
const END_LABEL = /-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
/** Characters of the body, including headers such as `Proc-Type: 4,ENCRYPTED`, escaped line ends and numbers of lines. */
const BODY = /^[A-Za-z0-9+/=\s\\:,.()|→-]*/
/** Parts of a body that are no key: headers, numbers of lines as coding agents show them to models, escaped line ends. */
const NO_KEY = /[A-Z][A-Za-z-]{2,20}: [^\n\\]*|\n {0,8}\d{1,7}(?:→|\t|[|:] ?)|\\+[nrt]/g
const LINE = /[A-Za-z0-9+/=]{2,}/g

/**
 * Finds private keys in PEM (RFC 7468, OpenSSH, PGP), with both marks or cut. Each line of the body is a finding of its own, so
 * that no value has a line end: a model can copy a key out of numbered lines, or into a string of a program.
 */
export function privateKeysIn(text: string, found: Finding[]): void {
  for (let start = text.indexOf(BEGIN); start !== -1; start = text.indexOf(BEGIN, start + BEGIN.length)) {
    LABEL.lastIndex = start + BEGIN.length
    if (!LABEL.test(text)) continue
    const bodyStart = LABEL.lastIndex
    const { end, isCut } = endOfBody(text, bodyStart)
    if (end - bodyStart <= SHORTEST_BODY) continue
    for (const line of linesOf(text.slice(bodyStart, end), isCut))
      found.push({ start: bodyStart + line.start, end: bodyStart + line.end, kind: 'private_key' })
  }
}

/** Reads up to the next dashes only, so that the work is linear also for many beginnings without an end. */
function endOfBody(text: string, bodyStart: number): { readonly end: number; readonly isCut: boolean } {
  const dashes = text.indexOf(DASHES, bodyStart)
  END_LABEL.lastIndex = dashes
  if (dashes !== -1 && END_LABEL.test(text)) return { end: dashes, isCut: false }
  const rest = dashes === -1 ? text.slice(bodyStart) : text.slice(bodyStart, dashes)
  return { end: bodyStart + (BODY.exec(rest)?.[0].length ?? 0), isCut: true }
}

/** Returns the places of a body's lines; of one that is cut those up to the first short one. */
function linesOf(body: string, isCut: boolean): { readonly start: number; readonly end: number }[] {
  const bare = body.replace(NO_KEY, (part) => ' '.repeat(part.length))
  const lines = Array.from(bare.matchAll(LINE), ({ index, 0: line }) => ({ start: index, end: index + line.length }))
  const short = isCut ? lines.findIndex(({ start, end }) => end - start < SHORTEST_LINE) : -1
  return short === -1 ? lines : lines.slice(0, short === 0 ? 0 : short + 1)
}

/**
 * DESIGN — finds secrets and personal data in a text
 *
 *   words ──┬─ first two letters ──► formats of keys        (keys.ts)
 *           ├─ two capitals, digits ► IBAN, national numbers
 *           ├─ a digit ────────────► card, national number, telephone
 *           └─ last letter, sign ──► value behind a name     (assigned-secret.ts)
 *   `@`, `://`, `-----BEGIN ` ─────► e-mail, connection, private key, by a search for the sign
 *
 * One pass reads each character once and decides at the words. Expressions are tried only where a literal beginning is
 * found, match at that place alone, and have bounded repetitions: so the time is linear in the text, whatever it holds.
 * Guarantees: findings are in order and do not overlap; equal texts have equal findings.
 */
import { assignedSecretAt, authorizationAt, mayBeName } from './assigned-secret.ts'
import { ALPHANUMERIC, classOf, DIGIT, LOWER, UPPER, WORD } from './characters.ts'
import { connectionsIn } from './connection.ts'
import { emailsIn } from './email.ts'
import { type Finding, type Kind, withoutOverlaps } from './finding.ts'
import { hostAt } from './host.ts'
import { ibanAt } from './iban.ts'
import { jwtAt, keyAt } from './keys.ts'
import { letteredIdAt, numberAt, spanAt } from './numbers.ts'
import { privateKeysIn } from './private-key.ts'

/** Finds values of chosen kinds in a text. */
export type Scan = (text: string) => readonly Finding[]

const SHORTEST = 6
const NONE: readonly Finding[] = []
const BACKSLASH = 0x5c
const PERCENT = 0x25
const ESCAPES = 'nrtbf'
const LETTER_B = 0x62
const LETTER_E = 0x65
const LETTER_I = 0x69
const LETTER_T = 0x74
const FOLD = 0x20
/** Characters behind a name, before a value: `=`, `:`, a quote, an escape, a bracket, a space. */
const SIGNS = Uint8Array.from({ length: 128 }, (_, code) => ('=:"\'`\\])'.includes(String.fromCharCode(code)) ? 1 : 0))
const SPACE = 0x20

/** Creates a scan for some kinds; `custom` is not among those that it finds. */
export function createScan(kinds: ReadonlySet<Kind>): Scan {
  return (text) => {
    if (text.length < SHORTEST) return NONE
    const found: Finding[] = []
    privateKeysIn(text, found)
    connectionsIn(text, found)
    emailsIn(text, found)
    new WordScan(text, kinds.has('host'), found).run()
    if (found.length === 0) return NONE
    return withoutOverlaps(found.filter(({ kind }) => kinds.has(kind)))
  }
}

class WordScan {
  readonly #text: string
  readonly #findsHosts: boolean
  readonly #found: Finding[]
  /** End of the last number with separators: no number begins inside of it. */
  #numberEnd = 0

  constructor(text: string, findsHosts: boolean, found: Finding[]) {
    this.#text = text
    this.#findsHosts = findsHosts
    this.#found = found
  }

  run(): void {
    const text = this.#text
    const { length } = text
    let at = 0
    while (at < length) {
      const first = classOf(text.charCodeAt(at))
      if ((first & WORD) === 0) {
        at++
        continue
      }
      const start = at
      let classes = first
      for (at++; at < length; at++) {
        const next = classOf(text.charCodeAt(at))
        if ((next & WORD) === 0) break
        classes |= next
      }
      if ((classes & ALPHANUMERIC) !== 0) at = this.#word(start, at, classes)
    }
  }

  /** Takes a word; returns the offset to go on at. */
  #word(start: number, end: number, classes: number): number {
    const text = this.#text
    const from = this.#behindEscape(start)
    const finding = this.#valueAt(from, end, classes)
    if (finding !== undefined) {
      this.#found.push(finding)
      return Math.max(end, finding.end)
    }
    if (mayBeName(text.charCodeAt(end - 1)) && this.#isFollowed(start, end)) {
      const secret = assignedSecretAt(text, from, end)
      if (secret !== undefined) this.#found.push(secret)
    }
    return end
  }

  #valueAt(start: number, end: number, classes: number): Finding | undefined {
    const text = this.#text
    const first = classOf(text.charCodeAt(start))
    if (end - start >= 2) {
      const isToken = end - start > 12 && text.charCodeAt(start) === LETTER_E && text.startsWith('eyJ', start)
      const key = keyAt(text, start) ?? (isToken ? jwtAt(text, start) : undefined)
      if (key !== undefined) return key
    }
    if (this.#findsHosts) {
      const host = hostAt(text, start)
      if (host !== undefined) return host
    }
    if ((first & DIGIT) !== 0) return this.#numberFrom(start)
    if ((first & UPPER) !== 0 && (classes & LOWER) === 0) {
      const second = classOf(text.charCodeAt(start + 1))
      const iban = (second & UPPER) !== 0 && (classes & DIGIT) !== 0 ? ibanAt(text, start) : undefined
      return iban ?? (end - start <= 18 ? letteredIdAt(text, start) : undefined)
    }
    return end - start === 5 || end - start === 6 ? this.#authorizationAt(start) : undefined
  }

  #numberFrom(start: number): Finding | undefined {
    if (start < this.#numberEnd) return undefined
    const span = spanAt(this.#text, start)
    const finding = numberAt(this.#text, start, span)
    // A number in groups is read once; where it is no value, its second group may still begin one.
    if (finding === undefined && span.digits < 8) this.#numberEnd = span.end
    return finding
  }

  #authorizationAt(start: number): Finding | undefined {
    const letter = this.#text.charCodeAt(start) | FOLD
    return letter === LETTER_B || letter === LETTER_T ? authorizationAt(this.#text, start) : undefined
  }

  #isFollowed(start: number, end: number): boolean {
    const code = this.#text.charCodeAt(end)
    if (isSign(code)) return true
    if (code !== SPACE) return false
    const next = this.#text.charCodeAt(end + 1)
    return isSign(next) || (next | FOLD) === LETTER_I || this.#text.startsWith('--', start) || isLinking(next)
  }

  /** Leaves out the letter of an escape, as in a text with JSON inside, and the digits of a percent-encoded character. */
  #behindEscape(start: number): number {
    const before = this.#text.charCodeAt(start - 1)
    if (before === BACKSLASH && ESCAPES.includes(this.#text[start] ?? '')) return start + 1
    return before === PERCENT ? start + 2 : start
  }
}

function isSign(code: number): boolean {
  return code < SIGNS.length && SIGNS[code] === 1
}

const LINKING = new Set(Array.from('wle', (letter) => letter.charCodeAt(0)))

/** Tests for the first letter of `was`, `lautet`, `es`. */
function isLinking(code: number): boolean {
  return LINKING.has(code)
}

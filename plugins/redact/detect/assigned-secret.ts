/**
 * DESIGN — values behind a name such as `password`
 *
 * Names end with what they are: `DB_PASSWORD`, `clientSecret`, `x-api-key`. So the last letters of each word decide at
 * once, and only few words are looked at further. A value that is a reference, a call, a template or a word is none.
 */

import { looksRandom } from './entropy.ts'
import type { Finding } from './finding.ts'

type Name = 'password' | 'key'

/** Endings of names that are read further, by their last letter. */
const PASSWORD =
  /(?:pass(?:word|wd|phrase|code)?|pwd|passwort|kennwort|contrase(?:ñ|n)a|mot_?de_?passe|senha|wachtwoord)[_-]?\d{0,2}$/i
const KEY =
  /(?:secret|token|credentials?|(?:api|access|secret|private|account|auth|encryption|encrypt|signing|sign|master|shared|sharedaccess|storage|service|session|license|licence|webhook|subscription|app|client|deploy|admin|functions?|host)[_.-]?key|api[_-]?hash|signature|bearer|salt)[_-]?\d{0,2}$/i
const LONGEST_NAME = 64
const LONGEST_VALUE = 512
/** Characters between a name and its value: quotes with escapes and a sign; a type is not allowed. */
const SIGN = /\\?["'`]?\]? {0,3}(?::=|=>|={1,2}|:) {0,3}|["'`]?\)? (?:is|was|ist|lautet|es|est|are|to):? {1,2}/y
const FLAG_SIGN = / {1,2}/y
const QUOTED = /\\?(["'`])((?:(?!\1)[^\\\n]){1,512})\\?\1/y
const BARE = /[^\s"'`,;<>|()[\]{}\\&]{1,512}/y
/** In prose a value ends at white space, in code and addresses also at `&`. */
const SPOKEN = /[^\s"'`,;<>|()[\]{}\\]{1,512}/y
const IS_WORD = /[a-z]\W*$/i
const TRAILING = /[.,;:!?]+$/
const REFERENCE =
  /^(?:[$<{%[(*]|process\.|env\.|os\.|config\.|self\.|this\.|null$|none$|nil$|undefined$|true$|false$|string$|required$|optional$|redacted)|\$\{|\{\{|%[({]|\.{3}|\*{3}|x{4}|REDACTED_/i
const EXAMPLE =
  /^(?:change[_-]?me|your[_-]|my[_-]|example|sample|dummy|placeholder|test|secret|password|foo|bar|abc123$)/i
/** A name in a program, or a version. */
const CODE = /^[\w$]+(?:\.[A-Za-z_$][\w$]*)+$|^[A-Za-z_$][\w$]*\(/
const PATH = /^\.{0,2}\//
const KEY_VALUE = /^[A-Za-z0-9+/=_.~%-]{12,512}$/
const SHORTEST_PASSWORD = 6
/** From this length on, small letters and digits suffice. */
const LONG_PASSWORD = 12
/** Behind a name in a program. */
const CALL = /[([{]/

/** Last characters of the names above. */
const LAST = Uint8Array.from({ length: 128 }, (_, code) =>
  /[adehlnorstyz0-9]/i.test(String.fromCharCode(code)) ? 1 : 0,
)

/** Tests, by its last character, that a word may be a name. */
export function mayBeName(lastCode: number): boolean {
  return LAST[lastCode] === 1
}

/** Returns the value behind the word from `start` to `end`, if that is the name of a secret. */
export function assignedSecretAt(text: string, start: number, end: number): Finding | undefined {
  const name = nameOf(text.slice(Math.max(start, end - LONGEST_NAME), end))
  if (name === undefined) return undefined
  const valueStart = behindSign(text, start, end)
  if (valueStart === -1) return undefined
  const isSpoken = IS_WORD.test(text.slice(end, valueStart))
  const value = valueAt(text, valueStart, isSpoken ? SPOKEN : BARE)
  if (value === undefined || !isSecret(name, value)) return undefined
  return { start: value.start, end: value.start + value.text.length, kind: 'secret' }
}

function nameOf(word: string): Name | undefined {
  if (PASSWORD.test(word)) return 'password'
  return KEY.test(word) ? 'key' : undefined
}

function behindSign(text: string, start: number, end: number): number {
  SIGN.lastIndex = end
  if (SIGN.test(text)) return SIGN.lastIndex
  FLAG_SIGN.lastIndex = end
  return text.startsWith('--', start) && FLAG_SIGN.test(text) ? FLAG_SIGN.lastIndex : -1
}

interface Value {
  readonly start: number
  readonly text: string
  readonly isQuoted: boolean
}

function valueAt(text: string, at: number, unquoted: RegExp): Value | undefined {
  QUOTED.lastIndex = at
  const quoted = QUOTED.exec(text)
  if (quoted !== null) {
    const [whole, quote = '', inside = ''] = quoted
    return { start: at + whole.indexOf(quote) + 1, text: inside, isQuoted: true }
  }
  unquoted.lastIndex = at
  const bare = unquoted.exec(text)?.[0].replace(TRAILING, '')
  if (CALL.test(text[unquoted.lastIndex] ?? '')) return undefined
  return bare === undefined || bare === '' ? undefined : { start: at, text: bare, isQuoted: false }
}

function isSecret(name: Name, { text, isQuoted }: Value): boolean {
  if (text.length > LONGEST_VALUE || REFERENCE.test(text) || CODE.test(text) || EXAMPLE.test(text)) return false
  if (PATH.test(text) && !looksRandom(text)) return false
  if (name === 'key') return KEY_VALUE.test(text) && looksRandom(text)
  return isPassword(text, isQuoted)
}

/** Tests for characters of several classes: a word alone is rather the name of a field. */
function isPassword(text: string, isQuoted: boolean): boolean {
  if (text.length < SHORTEST_PASSWORD || /\s/.test(text) || /:\/\//.test(text)) return false
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9_.-]/].filter((each) => each.test(text)).length
  if (isQuoted) return classes >= 3 || (classes === 2 && /\d/.test(text) && text.length >= 8)
  return (classes >= 3 && /\d/.test(text)) || (text.length >= LONG_PASSWORD && looksRandom(text))
}

const BEARER = /(?:Bearer|Basic|bearer|basic|Token|token) {1,2}([A-Za-z0-9._~+/=-]{16,2000})/y

/** Returns the credential of an `Authorization` header whose scheme begins at `start`. */
export function authorizationAt(text: string, start: number): Finding | undefined {
  BEARER.lastIndex = start
  const value = BEARER.exec(text)?.[1]
  if (value === undefined || !looksRandom(value)) return undefined
  return { start: BEARER.lastIndex - value.length, end: BEARER.lastIndex, kind: 'secret' }
}

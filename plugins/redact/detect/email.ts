import { classOf, WORD } from './characters.ts'
import type { Finding } from './finding.ts'

const LONGEST_LOCAL = 64
const LONGEST_DOMAIN = 253
/** Local part in ASCII, as addresses in use have it, and letters of other scripts (RFC 6531). */
const LOCAL = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\u00a1-\uffef-]/
const DOMAIN =
  /(?:[A-Za-z0-9\u00a1-\uffef](?:[A-Za-z0-9\u00a1-\uffef-]{0,61}[A-Za-z0-9\u00a1-\uffef])?\.){1,8}(?:xn--[a-z0-9-]{2,40}|[A-Za-z\u00a1-\uffef]{2,24})/y
/** Domains without an owner (RFC 2606, RFC 6761), and accounts of machines, which name no person. */
const RESERVED = /(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|localhost|local|internal|lan)$/i
const MACHINE = /^(?:git|hg|svn|root|noreply|no-reply|donotreply|nobody|postmaster|mailer-daemon)$/i
/** Endings of files, in names such as `icon@2x.png`. */
const FILE = /\.(?:png|jpe?g|gif|svg|webp|ico|js|mjs|cjs|ts|tsx|jsx|css|json|html?|txt|rb|java)$/i

/** Finds the e-mail addresses of a text. */
export function emailsIn(text: string, found: Finding[]): void {
  let from = 0
  for (let sign = text.indexOf('@'); sign !== -1; sign = text.indexOf('@', sign + 1)) {
    const finding = emailAround(text, sign, from)
    if (finding === undefined) continue
    found.push(finding)
    from = finding.end
  }
}

function emailAround(text: string, sign: number, from: number): Finding | undefined {
  if ((classOf(text.charCodeAt(sign + 1)) & WORD) === 0 && text.charCodeAt(sign + 1) < 128) return undefined
  let start = localStart(text, sign, from)
  if (start === sign || sign - start > LONGEST_LOCAL) return undefined
  start = withoutLeading(text, start, sign)
  const local = text.slice(start, sign)
  if (local === '' || local.endsWith('.') || local.includes('..') || MACHINE.test(local)) return undefined
  DOMAIN.lastIndex = sign + 1
  const domain = DOMAIN.exec(text)?.[0]
  if (domain === undefined || domain.length > LONGEST_DOMAIN) return undefined
  const end = sign + 1 + domain.length
  if (RESERVED.test(domain) || FILE.test(domain) || (classOf(text.charCodeAt(end)) & WORD) !== 0) return undefined
  return { start, end, kind: 'email' }
}

function localStart(text: string, sign: number, from: number): number {
  let start = sign
  const least = Math.max(from, sign - LONGEST_LOCAL - 1)
  while (start > least && LOCAL.test(text[start - 1] ?? '')) start--
  return start
}

/** Leaves out what is around an address rather than in it: quotes, an escape of a line end, a name before `=` or `/`. */
function withoutLeading(text: string, start: number, sign: number): number {
  let at = start
  if (text[at - 1] === '\\' && /[nrt]/.test(text[at] ?? '')) at++
  for (let i = sign - 1; i >= at; i--) if (/[=/'`|{}?&*]/.test(text[i] ?? '')) return i + 1
  while (at < sign && /[.'`*|{}!#$%&^~?]/.test(text[at] ?? '')) at++
  return at
}

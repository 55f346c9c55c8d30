import type { Finding } from './finding.ts'

const SIGN = '://'
const LONGEST_SCHEME = 24
/** User and password before the host; the last `@` before the path ends them. */
const CREDENTIALS = /([^\s"'`<>/?#@:\\]{0,128}):([^\s"'`<>/?#\\]{1,256})@(?=[A-Za-z0-9[])/y
const REFERENCE = /^(?:[$<{%[(*]|\.{3}|x{3,}$)|\$\{|\{\{|REDACTED_/i
const EXAMPLE = /^(?:password|pass|passwd|pwd|secret|pw|user|changeme|your[_-]?password|\*+)$/i
/** Addresses that are credentials themselves. */
const WEBHOOK =
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/]{20,100}|(?:canary\.|ptb\.)?discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/[A-Za-z0-9_-]{50,90}/y
/** Signature of a shared access, within the query of an address. */
const SHARED_ACCESS = /[?&]sig=([A-Za-z0-9%+/=_-]{40,120})/g
const LONGEST_ADDRESS = 2048
const ADDRESS_END = /[\s"'`<>]/g

/** Finds passwords in connection strings and addresses, and addresses that are credentials. */
export function connectionsIn(text: string, found: Finding[]): void {
  let end = 0
  for (let sign = text.indexOf(SIGN); sign !== -1; sign = text.indexOf(SIGN, sign + SIGN.length)) {
    const start = sign + SIGN.length
    if (start < end || !hasScheme(text, sign)) continue
    const finding = passwordAt(text, start) ?? webhookAt(text, start)
    if (finding !== undefined) found.push(finding)
    end = signaturesIn(text, start, found)
  }
}

function hasScheme(text: string, sign: number): boolean {
  return /[a-z0-9+.-]$/i.test(text.slice(Math.max(0, sign - LONGEST_SCHEME), sign))
}

function passwordAt(text: string, start: number): Finding | undefined {
  CREDENTIALS.lastIndex = start
  const found = CREDENTIALS.exec(text)
  if (found === null) return undefined
  const [, user = '', password = ''] = found
  if (REFERENCE.test(password) || EXAMPLE.test(password) || password === user) return undefined
  const from = start + user.length + 1
  return { start: from, end: from + password.length, kind: 'connection' }
}

function webhookAt(text: string, start: number): Finding | undefined {
  WEBHOOK.lastIndex = start
  return WEBHOOK.test(text) ? { start, end: WEBHOOK.lastIndex, kind: 'token' } : undefined
}

/** Returns the end of the address, up to which no other begins. */
function signaturesIn(text: string, start: number, found: Finding[]): number {
  ADDRESS_END.lastIndex = start
  const stop =
    ADDRESS_END.exec(text.slice(0, start + LONGEST_ADDRESS))?.index ?? Math.min(text.length, start + LONGEST_ADDRESS)
  const address = text.slice(start, stop)
  if (address.includes('sig='))
    for (const { 1: signature = '', index } of address.matchAll(SHARED_ACCESS)) {
      const from = start + index + '?sig='.length
      found.push({ start: from, end: from + signature.length, kind: 'cloud_key' })
    }
  return start
}

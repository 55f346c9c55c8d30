import { isAlphanumericAt } from './characters.ts'
import type { Finding } from './finding.ts'

const IPV4 = /(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)/y
/** Loopback, unspecified, broadcast, documentation (RFC 5737): they name no host. */
const NO_HOST = /^(?:127\.|0\.|255\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)/
const IPV6 = /(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){1,6}|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}/iy
const DOCUMENTATION = /^2001:0?db8:/i
const INTERNAL =
  /(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}(?:internal|intranet|corp|lan|intra|home\.arpa|svc\.cluster\.local)/iy

/** Returns the address or internal name of a host that begins at `start`, the beginning of a word. */
export function hostAt(text: string, start: number): Finding | undefined {
  if (text[start - 1] === '.' || isAlphanumericAt(text, start - 1)) return undefined
  return ipv4At(text, start) ?? ipv6At(text, start) ?? nameAt(text, start)
}

function ipv4At(text: string, start: number): Finding | undefined {
  IPV4.lastIndex = start
  const address = IPV4.exec(text)?.[0]
  if (address === undefined || NO_HOST.test(address)) return undefined
  const end = start + address.length
  if (isAlphanumericAt(text, end) || (text[end] === '.' && isAlphanumericAt(text, end + 1))) return undefined
  return { start, end, kind: 'host' }
}

function ipv6At(text: string, start: number): Finding | undefined {
  IPV6.lastIndex = start
  const address = IPV6.exec(text)?.[0]
  if (address === undefined || DOCUMENTATION.test(address) || !/[0-9a-f]{3}/i.test(address)) return undefined
  const end = start + address.length
  return isAlphanumericAt(text, end) || text[end] === ':' ? undefined : { start, end, kind: 'host' }
}

function nameAt(text: string, start: number): Finding | undefined {
  INTERNAL.lastIndex = start
  if (!INTERNAL.test(text)) return undefined
  const end = INTERNAL.lastIndex
  return isAlphanumericAt(text, end) || text[end] === '(' ? undefined : { start, end, kind: 'host' }
}

import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { createKey, isKeyId, isWellFormedKey, looksLikeKey } from '../../../src/accounts/keys/key-format.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { presentedCredential, presentedSecrets, providerKeyOf } from '../../../src/http/credential.ts'
import { attempt, createPicker, type Fuzzer, promise } from '../fuzzer.ts'

const KEY = 'svc_live_000000000000000000000000000000001k8SAJ'
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const token = fc.oneof(fc.constantFrom(KEY, 'sk-ant-api03-abcdefgh', 'spt_1', 'a.b.c'), fc.string({ maxLength: 20 }))
const NAMES = ['authorization', 'x-api-key', 'x-provider-key'] as const

/**
 * Credentials in headers: what is read is what a reader written by hand reads, letter by letter; a key passes only with
 * its checksum; every refusal is 401.
 */
export const authHeader: Fuzzer = {
  name: 'auth-header',
  seeds: fc.oneof(
    token.map((text) => `Bearer ${text}`),
    token,
    fc.constantFrom('Basic dXNlcjpwYXNz', 'bearer  x ', 'Payment e30', '').map(String),
    fc.nat().map(() => `Bearer ${createKey('svc')}`),
  ),
  words: [
    'Bearer ',
    'bEARER ',
    'Basic ',
    'Payment ',
    ',',
    ' ',
    '\t',
    '\xa0',
    KEY,
    'svc_live_',
    "' OR '1'='1",
    '%00',
    '__proto__',
  ],
  mostMutations: 3,
  outcomes: ['bearer', 'x-api-key', 'refused', 'a key'],
  run({ text, salt }) {
    // Node has refused any other character of a header.
    const value = text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
    const headers = headersOf(value, salt)
    const presented = attempt(() => presentedCredential(headers))
    const bearer = bearerByHand(first(headers.authorization))
    const key = trimmed(first(headers['x-api-key']))
    promise(!presentedSecrets(headers).includes(undefined as never), 'secrets are texts')
    promise((providerKeyOf(headers)?.secret ?? '') === trimmed(first(headers['x-provider-key'])), 'the provider’s key')
    if ('error' in presented) {
      promise(presented.error instanceof GatewayError && presented.error.status === 401, `threw ${presented.error}`)
      promise(bearer === undefined && key === '', 'a credential that is there is read')
      return 'refused'
    }
    const { header, secret } = presented.value
    promise(header === (bearer === undefined ? 'x-api-key' : 'authorization'), 'a bearer goes first')
    promise(secret === (bearer ?? key), `read ${JSON.stringify(secret)}`)
    promise(isWellFormedKey(secret) === isKeyByHand(secret), `a key: ${secret}`)
    promise(!isWellFormedKey(secret) || (looksLikeKey(secret) && !isKeyId(secret)), 'one form')
    if (isWellFormedKey(secret)) return 'a key'
    return header === 'authorization' ? 'bearer' : 'x-api-key'
  },
}

function headersOf(value: string, salt: number): NodeJS.Dict<string | string[]> {
  const pick = createPicker(salt)
  const headers: NodeJS.Dict<string | string[]> = {}
  const name = NAMES[pick(4)] ?? 'authorization'
  headers[name] = pick(8) === 0 ? [value, 'Bearer second'] : value
  if (pick(4) === 0) headers[NAMES[pick(3)] ?? 'x-api-key'] = value.slice(pick(value.length))
  return headers
}

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

function trimmed(text: string): string {
  return text.trim()
}

/** The scheme in any case and a space; all that follows, without white space around it, is the token. */
function bearerByHand(value: string): string | undefined {
  if (value.slice(0, 6).toLowerCase() !== 'bearer' || value[6] !== ' ') return undefined
  return trimmed(value.slice(7)) || undefined
}

function isKeyByHand(text: string): boolean {
  const parts = text.split('_')
  const [label = '', live, rest = ''] = parts
  if (parts.length !== 3 || live !== 'live' || rest.length !== 38 || label.length < 1 || label.length > 16) return false
  if (![...rest].every((digit) => DIGITS.includes(digit))) return false
  if (![...label].every((letter, i) => DIGITS.indexOf(letter) >= 36 || (i > 0 && letter >= '0' && letter <= '9')))
    return false
  let value = 0
  for (const digit of text.slice(-6)) value = value * DIGITS.length + DIGITS.indexOf(digit)
  return value === crc32(text.slice(0, -6))
}

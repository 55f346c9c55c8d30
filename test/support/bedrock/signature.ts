import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ReceivedRequest } from '../provider/check-request.ts'

/*
 * Verifies AWS Signature Version 4 from its public description, with Node's hashes alone: a second implementation checks
 * the gateway's signatures, which the vendor's library makes.
 */

/** Expected signer and scope. */
export interface SignatureRules {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  region: string
  service: string
  /** Wall-clock time in milliseconds. Default: now. */
  nowMs?: number
}

/** Reason of a refused signature, by the service's name for it. */
export interface SignatureFault {
  name: string
  message: string
}

/** The parts of a signed request's `authorization`. */
interface Claim {
  accessKeyId: string
  scope: string
  signedHeaders: string[]
  signature: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const CLAIM = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
const LONGEST_SKEW_MS = 5 * 60_000

/** Returns the fault of a request's signature; `undefined` for a valid one. */
export function checkSignature(request: ReceivedRequest, rules: SignatureRules): SignatureFault | undefined {
  const claim = parseClaim(request.headers.authorization)
  if (claim === undefined)
    return { name: 'MissingAuthenticationTokenException', message: 'Missing Authentication Token' }
  const date = String(request.headers['x-amz-date'])
  return (
    checkWho(claim, request, rules) ??
    checkScope(claim, date, rules) ??
    checkDate(date, rules.nowMs ?? Date.now()) ??
    checkSignedHeaders(claim, request) ??
    checkHash(claim, request, { date, secretAccessKey: rules.secretAccessKey })
  )
}

function parseClaim(authorization: string | undefined): Claim | undefined {
  const [, accessKeyId = '', scope = '', names = '', signature = ''] = CLAIM.exec(authorization ?? '') ?? []
  return signature === '' ? undefined : { accessKeyId, scope, signedHeaders: names.split(';'), signature }
}

function checkWho({ accessKeyId }: Claim, { headers }: ReceivedRequest, rules: SignatureRules) {
  if (accessKeyId === rules.accessKeyId && headers['x-amz-security-token'] === rules.sessionToken) return undefined
  return {
    name: 'UnrecognizedClientException',
    message: 'The security token included in the request is invalid.',
  }
}

function checkScope({ scope }: Claim, date: string, { region, service }: SignatureRules) {
  const expected = `${date.slice(0, 8)}/${region}/${service}/aws4_request`
  if (scope === expected) return undefined
  return mismatch(`Credential should be scoped to a valid region. Expected ${expected}, got ${scope}.`)
}

function checkDate(date: string, nowMs: number) {
  const [, year, month, day, hour, minute, second] = DATE.exec(date) ?? []
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Math.abs(nowMs - atMs) <= LONGEST_SKEW_MS) return undefined
  return mismatch(`Signature expired: ${date} is now earlier than ${new Date(nowMs - LONGEST_SKEW_MS).toISOString()}`)
}

/** Checks the headers that must be signed: destination, content, and all of the service's own. */
function checkSignedHeaders({ signedHeaders }: Claim, { headers }: ReceivedRequest) {
  const required = Object.keys(headers).filter((name) => /^(?:host|content-type|x-amz-.*)$/.test(name))
  const unsigned = required.filter((name) => !signedHeaders.includes(name))
  if (unsigned.length === 0) return undefined
  return mismatch(`'${unsigned.join(', ')}' must be a 'SignedHeader' in the AWS Authorization.`)
}

function checkHash(claim: Claim, request: ReceivedRequest, given: { date: string; secretAccessKey: string }) {
  const declared = request.headers['x-amz-content-sha256']
  const payloadHash = sha256(request.raw)
  if (declared !== undefined && declared !== payloadHash)
    return mismatch('The payload does not have the declared hash.')
  const canonical = canonicalRequest(claim.signedHeaders, request, payloadHash)
  const toSign = [ALGORITHM, given.date, claim.scope, sha256(Buffer.from(canonical))].join('\n')
  const key = claim.scope
    .split('/')
    .reduce<Buffer>((secret, part) => hmac(secret, part), Buffer.from(`AWS4${given.secretAccessKey}`))
  if (timingSafeEqual(hmac(key, toSign), Buffer.from(claim.signature, 'hex'))) return undefined
  return mismatch(
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and ' +
      `signing method.\n\nThe Canonical String for this request should have been\n'${canonical}'\n\nThe String-to-Sign ` +
      `should have been\n'${toSign}'\n`,
  )
}

function canonicalRequest(names: readonly string[], { method, url, headers }: ReceivedRequest, hash: string): string {
  const [path = '', query = ''] = url.split('?')
  const parameters = query === '' ? [] : query.split('&').sort()
  const lines = names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`)
  return [
    method,
    path.split('/').map(encode).join('/'),
    parameters.join('&'),
    ...lines,
    '',
    names.join(';'),
    hash,
  ].join('\n')
}

/** Encodes every character but the unreserved ones; a path that is encoded already is encoded twice. */
function encode(segment: string): string {
  return encodeURIComponent(segment).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

function mismatch(message: string): SignatureFault {
  return { name: 'InvalidSignatureException', message }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

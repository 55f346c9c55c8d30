import { asObject, objectFromBase64url } from './base64url.ts'
import type { Challenge } from './challenge.ts'

/** A payer's credential: the challenge unchanged, and the token that pays for it. */
export interface PaymentCredential {
  readonly challenge: Challenge
  /** Token of the payer's wallet, `spt_…`, or of a session, `sst_…`: a secret, never to be stored or logged. */
  readonly token: string
}

/** Payment in the `Authorization` fields of a request. */
export type PresentedPayment =
  | { readonly kind: 'none' }
  | { readonly kind: 'several' }
  | { readonly kind: 'malformed'; readonly reason: string }
  | ({ readonly kind: 'payment' } & PaymentCredential)
  | ({ readonly kind: 'session' } & PaymentCredential)

const SCHEME = /^Payment(?: |$)/i
const CREDENTIAL = /^Payment +(\S+) *$/i
const TOKEN = /^spt_[A-Za-z0-9_]{1,250}$/
const SESSION = /^sst_[A-Za-z0-9_-]{43}$/
/** Twice the length that servers must accept (draft-httpauth-payment, section 5.2); real ones have 800 characters. */
const LONGEST_CREDENTIAL = 8192
const OPTIONAL = ['expires', 'digest', 'description', 'opaque'] as const

/** Parses a payment credential strictly, so that each credential has exactly one form; credentials of other schemes are none. */
export function parsePayment(fields: readonly string[]): PresentedPayment {
  const payments = fields.filter((field) => SCHEME.test(field.trimStart()))
  const [field] = payments
  if (field === undefined) return { kind: 'none' }
  if (payments.length > 1) return { kind: 'several' }
  if (field.length > LONGEST_CREDENTIAL)
    return malformed(`expected at most ${LONGEST_CREDENTIAL} characters, got ${field.length}`)
  const encoded = CREDENTIAL.exec(field.trimStart())?.[1]
  if (encoded === undefined) return malformed('expected `Payment` and one credential')
  const credential = objectFromBase64url(encoded)
  if (credential === undefined) return malformed('expected a JSON object in base64url without padding')
  const challenge = challengeOf(credential.challenge)
  if (challenge === undefined)
    return malformed('`challenge`: expected the parameters of the challenge as text, unchanged')
  const { spt: token, session_token: session } = asObject(credential.payload) ?? {}
  if (challenge.intent === 'session' && typeof session === 'string' && SESSION.test(session))
    return { kind: 'session', challenge, token: session }
  if (typeof token !== 'string' || !TOKEN.test(token))
    return malformed('`payload.spt`: expected a shared payment token, `spt_…`')
  return { kind: 'payment', challenge, token }
}

function malformed(reason: string): PresentedPayment {
  return { kind: 'malformed', reason }
}

/** Returns the challenge without members unknown to this version. */
function challengeOf(value: unknown): Challenge | undefined {
  const members = asObject(value)
  if (members === undefined) return undefined
  const { id, realm, method, intent, request } = members
  if (!isText(id) || !isText(realm) || !isText(method) || !isText(intent) || !isText(request)) return undefined
  if (objectFromBase64url(request) === undefined) return undefined
  const optional: Partial<Record<(typeof OPTIONAL)[number], string>> = {}
  for (const name of OPTIONAL) {
    const member = members[name]
    if (member === undefined) continue
    if (typeof member !== 'string') return undefined
    optional[name] = member
  }
  return { id, realm, method, intent, request, ...optional }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

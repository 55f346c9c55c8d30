import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * DESIGN — wallet of the sandbox
 *
 *   spt_sandbox_<most cents>_<end, seconds>_<nonce>_<HMAC of the rest>
 *
 * It grants tokens that have the form and the limits of Stripe's shared payment tokens: an amount, an end, one use. They are
 * signed rather than stored, so that every process of the gateway can check them. No other gateway, and no Stripe
 * account, accepts one.
 */
const PREFIX = 'spt_sandbox'
const NONCE_BYTES = 12
const LONGEST_TTL_S = 24 * 60 * 60
const USUAL_TTL_S = 300
const TOKEN = /^(spt_sandbox_(\d{1,7})_(\d{10})_[0-9a-f]{24})_([0-9a-f]{64})$/

/** Most cents of a token. */
export const MOST_CENTS = 1_000_000

/** Token of the sandbox. */
export interface SandboxToken {
  readonly token: string
  readonly mostCents: number
  /** Seconds since 1970. */
  readonly endsAtS: number
}

/** Grants a token for at most this many cents; it ends after five minutes, or at `endsAtS` within a day. */
export function grantSandboxToken(
  secret: string,
  { mostCents, endsAtS, nowMs }: { mostCents: number; endsAtS?: number | undefined; nowMs: number },
): SandboxToken {
  const nowS = Math.floor(nowMs / 1000)
  const ends = Math.min(endsAtS ?? nowS + USUAL_TTL_S, nowS + LONGEST_TTL_S)
  const granted = `${PREFIX}_${mostCents}_${ends}_${randomBytes(NONCE_BYTES).toString('hex')}`
  return { token: `${granted}_${macOf(granted, secret)}`, mostCents, endsAtS: ends }
}

/** Reads a token of this sandbox; `undefined` for any other. */
export function readSandboxToken(secret: string, token: string): SandboxToken | undefined {
  const [, granted = '', cents, endsAtS, mac = ''] = TOKEN.exec(token) ?? []
  if (!timingSafeEqual(Buffer.from(macOf(granted, secret)), Buffer.from(mac.padEnd(MAC_CHARACTERS)))) return undefined
  return { token, mostCents: Number(cents), endsAtS: Number(endsAtS) }
}

const MAC_CHARACTERS = 64

function macOf(granted: string, secret: string): string {
  return createHmac('sha256', secret).update(`sandbox token\n${granted}`).digest('hex')
}

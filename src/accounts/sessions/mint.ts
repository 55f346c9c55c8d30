import { SignJWT } from 'jose'

/** User and lifetime of a token. */
export interface MintOptions {
  readonly secret: string
  readonly userId: string
  readonly userClaim: string
  readonly issuer: string | undefined
  readonly audience: string | undefined
  readonly azp: readonly string[]
  /** Claims that the gateway requires, whatever their values. */
  readonly extraClaims?: readonly string[]
  readonly nowMs: number
  readonly ttlMs: number
}

/** Signs a session token with the shared secret, in the form that the gateway accepts. */
export function mintSessionToken(options: MintOptions): Promise<string> {
  const { secret, userId, userClaim, issuer, audience, azp, extraClaims = [], nowMs, ttlMs } = options
  const nowSeconds = Math.floor(nowMs / 1000)
  const extra = Object.fromEntries(extraClaims.map((name) => [name, 'development']))
  const token = new SignJWT({ ...extra, [userClaim]: userId, ...(azp[0] !== undefined && { azp: azp[0] }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + Math.ceil(ttlMs / 1000))
  if (issuer !== undefined) token.setIssuer(issuer)
  if (audience !== undefined) token.setAudience(audience)
  return token.sign(Buffer.from(secret))
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import type { JsonObject } from './json.ts'

/** Algorithms that issuers of tests sign with. */
export type IssuerAlgorithm = 'RS256' | 'ES256' | 'EdDSA'

/** An identity provider: it signs tokens, and publishes its public key on a server of its own. */
export interface Issuer {
  readonly jwksUrl: string
  /** The public key as a PEM. */
  readonly pem: string
  /** Returns how often its keys were fetched. */
  fetches(): number
  /** Signs these claims, by default with `exp` in an hour; `null` leaves it out. Undefined members are left out. */
  sign(claims: JsonObject & { exp?: number | null }, header?: Record<string, unknown>): Promise<string>
  /** Answers requests for its keys with this status from now on; 0 never answers. */
  answerWith(status: number): void
  close(): Promise<void>
}

const HOUR_SECONDS = 3600

/** Starts an issuer on loopback. */
export async function startIssuer(algorithm: IssuerAlgorithm): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const kid = `key-of-${algorithm}`
  const key = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' }
  let status = 200
  let fetched = 0
  const server = createServer((_, response) => {
    fetched++
    if (status === 0) return
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 200 ? JSON.stringify({ keys: [key] }) : '{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  return {
    jwksUrl: `http://127.0.0.1:${port}/.well-known/jwks.json`,
    pem: await exportSPKI(publicKey),
    fetches: () => fetched,
    sign({ exp, ...claims }, header = {}) {
      const token = new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, ...header })
      if (exp !== null) token.setExpirationTime(exp ?? Math.floor(Date.now() / 1000) + HOUR_SECONDS)
      return token.sign(privateKey)
    },
    answerWith(next) {
      status = next
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

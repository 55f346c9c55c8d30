import { GatewayError } from '../core/errors.ts'
import type { PresentedCredential } from '../core/ports/provider.ts'
import { holdsSecret } from '../core/secrets.ts'

const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-provider-key']
const BEARER = /^Bearer +/i

/** Returns the token of `Authorization: Bearer …`: all that follows the scheme, including spaces within it. */
export function bearerOf({ authorization }: NodeJS.Dict<string | string[]>): string | undefined {
  const value = single(authorization) ?? ''
  const scheme = BEARER.exec(value)?.[0]
  return scheme === undefined ? undefined : value.slice(scheme.length).trim() || undefined
}

/** Returns the caller's own provider key, which cloud mode reads from a separate header. */
export function providerKeyOf(headers: NodeJS.Dict<string | string[]>): PresentedCredential | undefined {
  const secret = single(headers['x-provider-key'])?.trim()
  return secret ? { header: 'x-provider-key', secret } : undefined
}

/** Returns all credentials in a request's headers, to be redacted from texts that repeat it. */
export function presentedSecrets(headers: NodeJS.Dict<string | string[]>): string[] {
  const secrets: string[] = []
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string') secrets.push(secretIn(value))
    else if (value !== undefined) secrets.push(...value.map(secretIn))
  }
  return secrets
}

function secretIn(value: string): string {
  return value.slice(value.indexOf(' ') + 1).trim()
}

/** Throws `invalid_request` when a text that is stored and shown again holds a credential. */
export function assertNoSecret(text: string, what: string, headers: NodeJS.Dict<string | string[]>): void {
  if (!holdsSecret(text, presentedSecrets(headers))) return
  throw new GatewayError('invalid_request', `${what}: it holds a credential. Credentials belong in headers.`)
}

/**
 * Returns the credential for one provider: a caller's own provider key is not sent to a fallback at another provider.
 */
export function forProvider(
  credential: PresentedCredential | undefined,
  provider: string,
): PresentedCredential | undefined {
  return credential?.header === 'x-provider-key' ? { ...credential, provider } : credential
}

/**
 * Returns the caller's credential: `Authorization: Bearer …` or, equally, `x-api-key`. With both, the bearer, unless
 * only the key passes `isWellFormed`: clients configured with a key often send a placeholder in the other header.
 * Throws `authentication_error`.
 */
export function presentedCredential(
  headers: NodeJS.Dict<string | string[]>,
  isWellFormed?: (secret: string) => boolean,
): PresentedCredential {
  const bearer = bearerOf(headers)
  const key = single(headers['x-api-key'])?.trim()
  const isKeyMeant = key && (bearer === undefined || (isWellFormed?.(key) && !isWellFormed(bearer)))
  if (isKeyMeant) return { header: 'x-api-key', secret: key }
  if (bearer !== undefined) return { header: 'authorization', secret: bearer }
  throw new GatewayError(
    'authentication_error',
    'Expected a credential in `Authorization: Bearer <API_KEY>` or in `x-api-key`.',
  )
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

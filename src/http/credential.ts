import { GatewayError } from '../core/errors.ts'
import type { PresentedCredential } from '../core/ports/provider.ts'
import { holdsSecret } from '../core/secrets.ts'

const BEARER = /^Bearer +/i

/** The token of `Authorization: Bearer …`: all that follows the scheme, spaces within it included. */
export function bearerOf({ authorization }: NodeJS.Dict<string | string[]>): string | undefined {
  const value = single(authorization) ?? ''
  const scheme = BEARER.exec(value)?.[0]
  return scheme === undefined ? undefined : value.slice(scheme.length).trim() || undefined
}

/** The key of the caller's own account with a provider, which cloud mode takes in a header of its own. */
export function providerKeyOf(headers: NodeJS.Dict<string | string[]>): PresentedCredential | undefined {
  const secret = single(headers['x-provider-key'])?.trim()
  return secret ? { header: 'x-provider-key', secret } : undefined
}

/** All that a request's headers hold of credentials, to be hidden where its texts are repeated. */
export function presentedSecrets(headers: NodeJS.Dict<string | string[]>): string[] {
  const { authorization, 'x-api-key': key, 'x-provider-key': providerKey } = headers
  const values = [authorization, key, providerKey].flat().filter((value) => value !== undefined)
  return values.map((value) => value.slice(value.indexOf(' ') + 1).trim())
}

/** Throws `invalid_request` when a text that is kept and repeated holds a credential. */
export function assertNoSecret(text: string, what: string, headers: NodeJS.Dict<string | string[]>): void {
  if (!holdsSecret(text, presentedSecrets(headers))) return
  throw new GatewayError('invalid_request', `${what}: it holds a credential. Credentials belong into headers.`)
}

/** The same credential for one provider's eyes: who brings a key of an account does not show it to a substitute. */
export function forProvider(
  credential: PresentedCredential | undefined,
  provider: string,
): PresentedCredential | undefined {
  return credential?.header === 'x-provider-key' ? { ...credential, provider } : credential
}

/**
 * The caller's credential: `Authorization: Bearer …`, or `x-api-key` as its equal. Of both, the bearer, unless only the
 * key has the form that `isWellFormed` asks for: clients that take a key of their own often send a placeholder beside it.
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

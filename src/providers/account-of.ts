import { hash } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'

let last = { secret: '', digest: hash('sha256', '', 'base64url') }

/** Returns a digest of a credential, by which the accounts of a provider are distinguished; empty without one. */
export function accountOf(secret: string | undefined): string {
  if (secret === undefined) return ''
  // Requests of one account follow each other.
  if (secret !== last.secret) last = { secret, digest: hash('sha256', secret, 'base64url') }
  return last.digest
}

/** Builds the error for a stored response whose credential is not in use any more. */
export function accountGone(): GatewayError {
  return new GatewayError('not_found', 'The credential with which this response was made is not in use any more.', {
    fields: { code: 'previous_response_not_found' },
  })
}

/** Reports the credential of a call. Throws `not_found` for a credential other than that of the stored response. */
export function assertAccount(
  secret: string | undefined,
  { account, onAccount }: { account?: string | undefined; onAccount?: (account: string) => void },
): void {
  if (account === undefined && onAccount === undefined) return
  const used = accountOf(secret)
  if (account !== undefined && account !== used) throw accountGone()
  onAccount?.(used)
}

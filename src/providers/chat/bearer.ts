import type { CredentialForm } from '../upstream.ts'

/** Sends a bearer token. `own` matches a caller's own credential by its form; without it none is passed through. */
export function bearer(variable: string | undefined, own: RegExp | undefined): CredentialForm {
  return {
    variable,
    headers: ({ secret }) => ['authorization', `Bearer ${secret}`],
    ownOf: (presented) => (own?.test(presented.secret) ? presented : undefined),
  }
}

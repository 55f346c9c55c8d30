import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

const SHORTEST_SECRET_BYTES = 32

/** Verification of users' session tokens, in cloud mode. */
export const sessions = z.strictObject({
  jwks_url: fromEnv(
    z.url({ protocol: /^https?$/, error: 'expected an http(s) address' }).optional(),
    'SVC_SESSION_JWKS_URL',
  ).describe(
    'Address of the public keys (JSON Web Key Set) of the issuer of your users’ session tokens. Cloud mode needs either this or `secret`.',
  ),
  secret: fromEnv(
    z
      .string()
      .refine((text) => Buffer.byteLength(text) >= SHORTEST_SECRET_BYTES, {
        error: `expected at least ${SHORTEST_SECRET_BYTES} bytes, as \`openssl rand -base64 48\` makes them`,
      })
      .optional(),
    'SVC_SESSION_SECRET',
    { secret: true },
  ).describe(
    'Secret that session tokens are signed with (HS256), at least 32 bytes; for development, and for issuers that share a secret. `turnpike session-token` signs with it.',
  ),
  issuer: fromEnv(z.string().min(1).optional(), 'SVC_SESSION_ISSUER').describe(
    'The `iss` that a token must have, exactly. Set it whenever the issuer gives one.',
  ),
  audience: fromEnv(z.string().min(1).optional(), 'SVC_SESSION_AUDIENCE').describe(
    'The `aud` that a token must have. Unset: tokens of the same issuer for other services are accepted too.',
  ),
  azp: fromEnv(z.array(z.string().min(1)).default([]), 'SVC_SESSION_AZP').describe(
    'Accepted values of `azp`, with Clerk the origins of your own pages. Empty: the claim is not checked. In the environment: separated by commas.',
  ),
  user_claim: fromEnv(z.string().min(1).default('sub'), 'SVC_SESSION_USER_CLAIM').describe(
    'Claim that identifies the user, and so the account. Its value must never be reassigned to another person.',
  ),
  required_claims: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further claims that a token must have, with any value, e.g. `sid` with Clerk, which its custom tokens lack.',
    ),
  operator_claim: fromEnv(
    z
      .string()
      .regex(/^[^=\s]+(=.+)?$/, { error: 'expected the name of a claim, or `name=value`' })
      .optional(),
    'SVC_SESSION_OPERATOR_CLAIM',
  ).describe(
    'Claim that makes a user an operator, with access to the requests of all accounts in the dashboard: `name=value` for a claim that equals or lists that value, e.g. `role=operator`; a name alone for a claim that is `true`. Unset: no user is.',
  ),
})

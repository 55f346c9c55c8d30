import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

const SHORTEST_SECRET_BYTES = 32

/** How the tokens of users are verified, in cloud mode. */
export const sessions = z.strictObject({
  jwks_url: fromEnv(
    z.url({ protocol: /^https?$/, error: 'expected an http(s) address' }).optional(),
    'SVC_SESSION_JWKS_URL',
  ).describe(
    'Address of the public keys (a JSON Web Key Set) of whoever issues your users’ session tokens. Cloud mode needs this or `secret`, not both.',
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
    'The `iss` that a token must have, to the letter. Set it whenever the issuer gives one.',
  ),
  audience: fromEnv(z.string().min(1).optional(), 'SVC_SESSION_AUDIENCE').describe(
    'The `aud` that a token must be for. Without it a token that the same issuer gave for another of your services is taken.',
  ),
  azp: fromEnv(z.array(z.string().min(1)).default([]), 'SVC_SESSION_AZP').describe(
    'The values of `azp` that are taken, as the origins of your own pages with Clerk. Empty: the claim is not looked at. In the environment: separated by commas.',
  ),
  user_claim: fromEnv(z.string().min(1).default('sub'), 'SVC_SESSION_USER_CLAIM').describe(
    'The claim that names the user, who is the account. It must never be given to another person.',
  ),
  required_claims: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further claims that a token must have, whatever their values, as `sid` with Clerk, which its custom tokens lack.',
    ),
  operator_claim: fromEnv(
    z
      .string()
      .regex(/^[^=\s]+(=.+)?$/, { error: 'expected the name of a claim, or `name=value`' })
      .optional(),
    'SVC_SESSION_OPERATOR_CLAIM',
  ).describe(
    'What makes a user an operator, who sees the requests of all accounts in the dashboard: `name=value` for a claim that has, or lists, that value, as `role=operator`; a name alone for one that is `true`. Unset: nobody is.',
  ),
})

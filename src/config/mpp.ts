import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

const SHORTEST_SECRET_BYTES = 32

const secret = z.string().refine((text) => Buffer.byteLength(text) >= SHORTEST_SECRET_BYTES, {
  error: `expected at least ${SHORTEST_SECRET_BYTES} bytes, as \`openssl rand -base64 48\` makes them`,
})

const perMinute = z.int().min(0).max(10_000_000)

const challengesPerMinute = z.strictObject({
  per_address: perMinute
    .default(300)
    .describe(
      'How many requests that are not paid an address may send in a minute: each call that is paid for by itself begins with one, those of a session with none. More are 429. 0 switches the limit off; do so behind a proxy, whose address all clients share.',
    ),
  overall: perMinute
    .default(30_000)
    .describe(
      'How many requests that are not paid all addresses together may send in a minute, over all instances with `redis_url`, else at each. More are 429; whoever holds a challenge may still pay it. 0 switches the limit off.',
    ),
})

/** How agents without an account pay, call by call. */
export const mpp = z.strictObject({
  enabled: fromEnv(z.enum(['on', 'off']).optional(), 'SVC_MPP').describe(
    'Whether agents may pay per call on `/v1/agent/messages`. Unset: off in local mode; in cloud mode on as soon as `secret`, `network_id`, a realm and `billing.secret_key` are set.',
  ),
  secret: fromEnv(secret.optional(), 'SVC_MPP_SECRET', { secret: true }).describe(
    'Secret that challenges are signed with, at least 32 bytes, the same on all instances.',
  ),
  previous_secrets: fromEnv(z.array(secret).default([]), 'SVC_MPP_PREVIOUS_SECRETS', { secret: true }).describe(
    'Secrets that signed before. Leave the old one here for six minutes after a change, so that challenges on their way stay good, and longer if a payer may still come back for an answer that was paid. In the environment: separated by commas.',
  ),
  realm: fromEnv(
    z
      .string()
      .regex(/^[A-Za-z0-9.-]+(?::\d+)?$/, 'expected a host name')
      .optional(),
    'SVC_MPP_REALM',
  ).describe('Host name that payers see. Unset: that of `server.public_url`.'),
  network_id: fromEnv(
    z
      .string()
      .regex(/^[A-Za-z0-9_]+$/, 'expected a Stripe profile, `profile_…`')
      .optional(),
    'SVC_MPP_NETWORK_ID',
  ).describe('Your Stripe profile, `profile_…`, to which wallets give tokens.'),
  settlement: fromEnv(z.enum(['manual', 'automatic']).default('manual'), 'SVC_MPP_SETTLEMENT').describe(
    '`manual`: money is held first and taken when the answer is there. `automatic`: it is taken first, and an answer that failed is owed; for accounts that cannot hold money of shared payment tokens.',
  ),
  covers: z
    .number()
    .min(0.001)
    .max(100)
    .default(0.5)
    .describe(
      'The most that a paid call may cost at the provider, in USD. A call that could cost more is refused before it is paid, and told which `max_tokens` would fit. The payment provider’s fee is not in it: lower it if a call must never lose money.',
    ),
  challenges_per_minute: challengesPerMinute.prefault({}),
})

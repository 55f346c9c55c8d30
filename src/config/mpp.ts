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
      'Most unpaid requests of an address per minute: each call that is paid individually begins with one, calls of a prepaid session with none. Beyond it: 429. 0 disables the limit; do so behind a proxy, whose address all clients share.',
    ),
  overall: perMinute
    .default(30_000)
    .describe(
      'Most unpaid requests of all addresses together per minute, over all instances with `redis_url`, else at each. Beyond it: 429; clients that hold a challenge may still pay it. 0 disables the limit.',
    ),
})

/** Payments of agents without an account, call by call. */
export const mpp = z.strictObject({
  enabled: fromEnv(z.enum(['on', 'off', 'sandbox']).optional(), 'SVC_MPP').describe(
    'Accept payments per call on `/v1/agent/messages`. Unset: off in local mode; in cloud mode on as soon as `secret`, `network_id`, a realm and `billing.secret_key` are set. `sandbox`: payments without money, for developers of agents: a wallet, a payment provider and books of its own, which need no other option; it refuses to start beside a key of Stripe, on an address that other machines reach, or under a public address.',
  ),
  secret: fromEnv(secret.optional(), 'SVC_MPP_SECRET', { secret: true }).describe(
    'Signing secret of challenges, at least 32 bytes, equal on all instances.',
  ),
  previous_secrets: fromEnv(z.array(secret).default([]), 'SVC_MPP_PREVIOUS_SECRETS', { secret: true }).describe(
    'Former signing secrets. Keep the old one here for six minutes after a change, so that issued challenges remain valid, and longer if a payer may still fetch a paid reply. In the environment: separated by commas.',
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
  ).describe('Your Stripe profile, `profile_…`, for which wallets issue tokens.'),
  settlement: fromEnv(z.enum(['manual', 'automatic']).default('manual'), 'SVC_MPP_SETTLEMENT').describe(
    '`manual`: money is held first and captured when the reply is ready. `automatic`: it is captured first, and a failed reply is owed; for accounts that cannot hold money of shared payment tokens.',
  ),
  covers: z
    .number()
    .min(0.001)
    .max(100)
    .default(0.5)
    .describe(
      'Most that a paid call may cost at the provider, in USD. A call that could cost more is refused before payment, and the error names the `max_tokens` that would fit. The payment provider’s fee is not in it: lower it if a call must never lose money.',
    ),
  challenges_per_minute: challengesPerMinute.prefault({}),
})

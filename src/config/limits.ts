import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

/** Limits of requests. */
export const limits = z.strictObject({
  requests_per_minute: fromEnv(z.coerce.number().int().min(0).max(1_000_000).optional(), 'SVC_RATE_LIMIT').describe(
    'Most requests of a key per minute, which may come in one burst. 0 disables the limit. Unset: 600 in cloud mode, off in local mode.',
  ),
  requests_at_once: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe(
      'Most in-flight model requests of a key in a process, streams included; beyond it: 429 with `retry-after`. 0 disables the limit. Unset: 1000 in cloud mode, off in local mode. Lower it where `providers.connections` is low.',
    ),
  failures_per_minute: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe(
      'Most requests of an address per minute without a valid credential. 0 disables the limit. Unset: 30 in cloud mode, off in local mode. Disable it behind a proxy, whose address all clients share.',
    ),
})

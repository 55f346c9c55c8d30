import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

/** API keys, in cloud mode. */
export const keys = z.strictObject({
  label: fromEnv(
    z
      .string()
      .regex(/^[a-z][a-z0-9]{0,15}$/, { error: 'expected 1 to 16 lower-case letters and digits, a letter first' })
      .default('svc'),
    'SVC_KEY_LABEL',
  ).describe(
    'What new keys begin with: `<label>_live_…`. Secret scanners know keys by it. Keys with an earlier label go on working.',
  ),
  pepper: fromEnv(z.string().min(16).optional(), 'SVC_KEY_PEPPER', { secret: true }).describe(
    'Secret that goes into the stored hashes of keys, at least 16 characters. Keys have enough randomness to do without. Setting or changing it makes all keys unknown.',
  ),
  per_account: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('How many keys that are not revoked an account may have.'),
})

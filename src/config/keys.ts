import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

/** API keys of cloud mode. */
export const keys = z.strictObject({
  label: fromEnv(
    z
      .string()
      .regex(/^[a-z][a-z0-9]{0,15}$/, { error: 'expected 1 to 16 lower-case letters and digits, a letter first' })
      .default('svc'),
    'SVC_KEY_LABEL',
  ).describe(
    'Prefix of new keys: `<label>_live_…`. Secret scanners recognise keys by it. Keys with an earlier label remain valid.',
  ),
  pepper: fromEnv(z.string().min(16).optional(), 'SVC_KEY_PEPPER', { secret: true }).describe(
    'Pepper of the stored key hashes, at least 16 characters. Optional, since keys are random enough. Setting or changing it invalidates all keys.',
  ),
  per_account: z.int().min(1).max(100_000).default(1000).describe('Most active (not revoked) keys of an account.'),
})

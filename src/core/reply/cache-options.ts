import { z } from 'zod'
import { duration } from '../units.ts'

/** Options that every cache of replies has, for its own schema; `sharingRule` goes with them. */
export const cacheOptions = {
  ttl: duration({ min: '1s', max: '30d' })
    .prefault('1h')
    .describe('How long a stored reply may be served. Shorten it where answers age.'),
  scope: z
    .enum(['key', 'user', 'shared'])
    .default('key')
    .describe(
      'Callers whose stored replies a caller may receive: those with the same key, those of the same user, or all. `shared` requires `allow_shared`.',
    ),
  allow_shared: z
    .boolean()
    .default(false)
    .describe(
      'Whether `scope=shared` is allowed. One caller’s prompts then answer another’s; only for callers that trust each other.',
    ),
}

/** Refuses a scope that the operator does not allow, with the message. */
export const sharingRule: [rule: (options: SharingOptions) => boolean, fault: { path: string[]; message: string }] = [
  ({ scope, allow_shared }) => scope !== 'shared' || allow_shared,
  { path: ['scope'], message: 'the operator does not allow `shared`' },
]

interface SharingOptions {
  readonly scope: string
  readonly allow_shared: boolean
}

import { z } from 'zod'
import { duration } from '../units.ts'

/** Options that every cache of replies has, for its own schema; `sharingRule` goes with them. */
export const cacheOptions = {
  ttl: duration({ min: '1s', max: '30d' })
    .prefault('1h')
    .describe('How long a reply may be given again. Shorten it where answers age.'),
  scope: z
    .enum(['key', 'user', 'shared'])
    .default('key')
    .describe(
      'Whose replies a caller may be given: those of the same key, of the same user, or of everybody. `shared` needs `allow_shared`.',
    ),
  allow_shared: z
    .boolean()
    .default(false)
    .describe(
      'Whether `scope=shared` may be used at all. Prompts of one caller then answer another; only for callers who trust each other.',
    ),
}

/** That the operator allows the scope that is asked for; with what is to be said if not. */
export const sharingRule: [rule: (options: SharingOptions) => boolean, fault: { path: string[]; message: string }] = [
  ({ scope, allow_shared }) => scope !== 'shared' || allow_shared,
  { path: ['scope'], message: 'the operator does not allow `shared`' },
]

interface SharingOptions {
  readonly scope: string
  readonly allow_shared: boolean
}

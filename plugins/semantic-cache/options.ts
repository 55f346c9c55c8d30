import { bytes, cacheOptions, sharingRule, z } from 'turnpike/plugin'
import type { Mode } from './matcher.ts'

/** The options of the module. */
export const options = z
  .strictObject({
    mode: z
      .enum(['strict', 'threshold'])
      .default('strict')
      .describe(
        'When the answer to a similar question is given. `strict`: when every rule of the guard and its verifier agree that nothing differs. `threshold`: when the cosine is at least `threshold` and no typed rule objects; for comparison with other caches, it is often wrong.',
      ),
    threshold: z
      .number()
      .min(0.5)
      .max(1)
      .default(0.95)
      .describe('Least cosine in mode `threshold`, between 0.5 and 1. Without meaning in mode `strict`.'),
    shadow: z
      .boolean()
      .default(false)
      .describe(
        'Gives nothing from the cache, and says in traces and in the log what it would have given. To see what a mode would do before switching it on.',
      ),
    ...cacheOptions,
    max_words: z
      .int()
      .min(10)
      .max(1000)
      .default(400)
      .describe(
        'Longest last user text, in words, that is compared by meaning. Longer ones are found by the same text only.',
      ),
    max_temperature: z
      .number()
      .min(0)
      .max(2)
      .default(1)
      .describe('Requests with a higher temperature go past the cache: they want another answer each time.'),
    max_entries: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(50_000)
      .describe(
        'Texts kept in memory over all scopes, under 1 KB each for prompts of up to 300 characters. The scope that was used longest ago goes first.',
      ),
    max_scope_entries: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(2000)
      .describe(
        'Texts of one scope; what was used longest ago goes first. Raise it where many callers ask the same assistant: beyond 2,000 a graph is searched in a thread of its own, which takes `hnswlib-node`, about 1.5 KB an entry and some seconds to build.',
      ),
    persist: z
      .boolean()
      .default(true)
      .describe(
        'Whether entries and replies outlive the process, in a file under `data_dir` that the processes of the machine share. Without meaning when `REDIS_URL` is set: they are there then.',
      ),
    max_disk: bytes({ min: '1MB', max: '1024GB' })
      .prefault('1GB')
      .describe('Room of that file; what was stored longest ago goes first.'),
    max_entry: bytes({ min: '1KB', max: '256MB' }).prefault('4MB').describe('Largest reply that is stored.'),
    max_memory: bytes({ min: '1MB', max: '64GB' })
      .prefault('256MB')
      .describe(
        'Memory for stored replies; what was used longest ago goes first. Without meaning when `REDIS_URL` is set.',
      ),
  })
  .refine(...sharingRule)

/** Options that have been checked. */
export type Options = z.output<typeof options>

/** The mode that options name. */
export function modeOf({ mode, threshold }: Options): Mode {
  return mode === 'strict' ? { kind: 'strict' } : { kind: 'threshold', leastCosine: threshold }
}

import { bytes, cacheOptions, sharingRule, z } from 'turnpike/plugin'
import { embedderOptions, missingOptionOf } from './embedders/options.ts'
import type { Mode } from './matcher.ts'

/** The options of the module. */
export const options = z
  .strictObject({
    mode: z
      .enum(['strict', 'judged', 'bound', 'threshold'])
      .default('strict')
      .describe(
        'When the answer to a similar question is given. `strict`: when every rule of the guard and its verifier agree that nothing differs. `judged`: the same, and what they let pass only in part is answered by the provider and then judged by `judge_model`; what it approves becomes another way to ask for the same answer. `bound`: when so few answers of its score were wrong that at most `delta` of what is given is wrong; it gives nothing until that is proven, so it needs traffic, and a judge or answers that are the same each time. `threshold`: when the cosine is at least `threshold` and no typed rule objects; for comparison with other caches, it is often wrong.',
      ),
    threshold: z
      .number()
      .min(0.5)
      .max(1)
      .default(0.95)
      .describe('Least cosine in mode `threshold`, between 0.5 and 1. Without meaning in other modes.'),
    delta: z
      .number()
      .min(0.002)
      .max(0.3)
      .default(0.02)
      .describe(
        'Share of what mode `bound` gives that may be wrong, between 0.002 and 0.3. A tenth of it needs ten times the evidence: 225 judged pairs without a fault for 0.02, 453 for 0.01.',
      ),
    audit: z
      .number()
      .min(0.02)
      .max(1)
      .default(0.1)
      .describe(
        'Share of what mode `bound` would give that is asked anew and judged, between 0.02 and 1, so that the evidence stays true. Lower it for more hits, raise it where traffic changes.',
      ),
    near_miss: z
      .number()
      .min(0.3)
      .max(1)
      .default(0.6)
      .describe(
        'Least cosine of what mode `judged` has judged, between 0.3 and 1. With the built-in embedder nine of ten at 0.6 are approved, and three of four at 0.4; raise it to spend less on judging.',
      ),
    judge_model: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Model that compares answers in the background, asked through the gateway at the operator’s expense; a small one will do. Mode `judged` needs it. Mode `bound` and `shadow` work better with it: without one, an answer in other words than the fresh one counts as wrong.',
      ),
    judge_per_day: z
      .number()
      .min(0)
      .max(100_000)
      .default(1)
      .describe(
        'The most that judging may cost in a UTC day, in USD, kept exactly by `cost-guard`. Callers’ own caps are not touched.',
      ),
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
        'Longest last user text, in words, that is compared by meaning. Longer ones are found by the same text only, and kept as a digest beyond 12,000 characters.',
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
    max_entries_memory: bytes({ min: '4MB', max: '64GB' })
      .prefault('64MB')
      .describe(
        'Memory for those texts, with their vectors and what was learned about them, without graphs; about. The scope that was used longest ago goes first, and in a scope that alone takes as much the text. Raise it with `max_entries`, where prompts are long (of 12,000 characters 5,000 have room), or with embedders of many dimensions.',
      ),
    max_scope_entries: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(2000)
      .describe(
        'Texts of one scope; what was used longest ago goes first. Raise it where many callers ask the same assistant: beyond 2,000 a graph is searched in a thread of its own, which takes `hnswlib-node`, about 0.5 KB more an entry and some seconds to build.',
      ),
    persist: z
      .boolean()
      .default(true)
      .describe(
        'Whether entries and replies outlive the process: in PostgreSQL when `DATABASE_URL` is set and the extension `vector` can be had there, else in a file under `data_dir` that the processes of the machine share. Without meaning when `REDIS_URL` is set: they are there then.',
      ),
    max_disk: bytes({ min: '1MB', max: '1024GB' })
      .prefault('1GB')
      .describe('Room of that file, or of the values in those tables; what was stored longest ago goes first.'),
    max_entry: bytes({ min: '1KB', max: '256MB' }).prefault('4MB').describe('Largest reply that is stored.'),
    max_memory: bytes({ min: '1MB', max: '64GB' })
      .prefault('256MB')
      .describe(
        'Memory for stored replies; what was used longest ago goes first. Without meaning when `REDIS_URL` is set.',
      ),
    ...embedderOptions,
  })
  .refine(...sharingRule)
  .refine(({ mode, judge_model }) => mode !== 'judged' || judge_model !== undefined, {
    path: ['mode'],
    message: '`judged` needs the operator to name a `judge_model`',
  })
  .superRefine((given, ctx) => {
    const path = missingOptionOf(given)
    if (path !== undefined)
      ctx.addIssue({ code: 'custom', path: [...path], message: `\`embedder: ${given.embedder}\` needs it` })
  })

/** Options that have been checked. */
export type Options = z.output<typeof options>

/** The mode that options name. */
export function modeOf({ mode, threshold, delta, near_miss }: Options): Mode {
  switch (mode) {
    case 'strict':
      return { kind: mode }
    case 'judged':
      return { kind: mode, leastCosine: near_miss }
    case 'bound':
      return { kind: mode, delta }
    case 'threshold':
      return { kind: mode, leastCosine: threshold }
  }
}

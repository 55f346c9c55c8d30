import { bytes, z } from 'turnpike/plugin'
import { cacheOptions, sharingRule } from 'turnpike/plugin/cache'
import { embedderOptions, missingOptionOf } from './embedders/options.ts'

/** Hints for removed options. */
export const removedOptions = {
  delta: 'it went with mode `bound`; use `mode: judged` with a `judge_model`',
  audit: 'it went with mode `bound`; use `mode: judged` with a `judge_model`',
  max_entries: 'use `max_entries_memory`, in bytes',
  threads: 'it went with embedder `onnx`; use `embedder: remote`',
  vectors_ttl: 'vectors are kept with their texts alone',
  max_vectors: 'vectors are kept with their texts alone, within `max_entries_memory`',
  queue: 'it went with embedder `onnx`; use `embedder: remote`',
  onnx: 'run the model in a server with an endpoint for embeddings, and use `embedder: remote`',
  encoding: 'vectors come as floats',
  failures: 'an endpoint is left alone after three failures on end',
  pause: 'an endpoint is left alone for ten seconds',
}

function removedModeMessage({ input }: { readonly input?: unknown }): string | undefined {
  return input === 'bound'
    ? 'mode `bound` is gone: use `strict`, or `judged` with a `judge_model` that decides each near miss'
    : undefined
}

/** Options of the plugin. */
export const options = z
  .strictObject({
    mode: z
      .enum(['strict', 'judged', 'threshold'], { error: removedModeMessage })
      .default('strict')
      .describe(
        'When a stored answer is served for another text. `strict`: if listed rewrites explain every difference. `judged`: also if `judge_model` finds that the nearest question asks the same; as wrong as that model is. `threshold`: also from that cosine on, for comparison with other caches; often wrong for misleading pairs. The page on caching has the measured error rates.',
      ),
    threshold: z.number().min(0.5).max(1).default(0.95).describe('Smallest cosine that mode `threshold` serves.'),
    near_miss: z
      .number()
      .min(0.3)
      .max(1)
      .default(0.6)
      .describe('Smallest cosine that mode `judged` submits to the judge. Raise it to judge less.'),
    judge_model: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Model that mode `judged` calls, through the gateway and at the operator’s expense, while the request waits for at most 5 s: once, and once more after a yes. A small one suffices.',
      ),
    judge_per_day: z
      .number()
      .min(0)
      .max(100_000)
      .default(1)
      .describe('Cap on the cost of judging in a UTC day, in USD, enforced by `cost-guard` apart from callers’ caps.'),
    shadow: z
      .boolean()
      .default(false)
      .describe(
        'Serves and judges nothing, and records in trace and log what it would have served. For trying a mode.',
      ),
    ...cacheOptions,
    max_words: z
      .int()
      .min(10)
      .max(1000)
      .default(400)
      .describe('Longest last text, in words, for rules and vectors. Longer ones match by identical text only.'),
    max_temperature: z
      .number()
      .min(0)
      .max(2)
      .default(1)
      .describe('Highest temperature that is cached: requests above it expect a new answer each time.'),
    max_scope_entries: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(20_000)
      .describe('Texts of one scope kept for vector comparison; the oldest is evicted.'),
    max_entries_memory: bytes({ min: '1MB', max: '64GB' })
      .prefault('64MB')
      .describe(
        'Memory for those texts and vectors, in each process: about 1 KB each, 3 KB in a scope of over 500. The least recently used scope is evicted.',
      ),
    persist: z
      .boolean()
      .default(true)
      .describe(
        'Whether answers outlive the process, in a file under `data_dir` that the machine’s processes share. Ignored with `REDIS_URL`, which then stores them.',
      ),
    max_disk: bytes({ min: '1MB', max: '1024GB' })
      .prefault('1GB')
      .describe('Size of that file; the oldest entries are evicted.'),
    max_entry: bytes({ min: '1KB', max: '256MB' }).prefault('4MB').describe('Largest reply to store.'),
    max_memory: bytes({ min: '1MB', max: '64GB' })
      .prefault('64MB')
      .describe(
        'Memory for answers with `persist: false` and without `REDIS_URL`; the least recently used is evicted.',
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

/** Validated options. */
export type Options = z.output<typeof options>

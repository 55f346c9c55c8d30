import { bytes, duration, z } from 'turnpike/plugin'

/** Tools of coding agents whose results can be fetched again by the same call. */
const REPEATABLE_TOOLS = [
  ...['Read', 'Grep', 'Glob', 'LS', 'Bash', 'BashOutput', 'NotebookRead', 'WebFetch', 'WebSearch'],
  ...['read_file', 'list_directory', 'search_files', 'grep', 'glob', 'bash', 'shell', 'run_command', 'view', 'fetch'],
]

/** Options of the operator. */
export const options = z.strictObject({
  test_times: z
    .enum(['fold', 'keep'])
    .default('keep')
    .describe(
      'Durations in test reports: `keep`, or `fold`, which treats a report that differs from an earlier one only in durations as equal; its pointer reads “but for times”, and the last lines stay. Where tests run often and their durations do not matter, `fold` halves sessions of reports.',
    ),
  elide: z
    .enum(['off', 'pressure', 'idle'])
    .default('off')
    .describe(
      'Experimental. When to elide old tool results, with a marker that keeps their names, numbers and paths: never (`off`), when the conversation exceeds `max_context` (`pressure`), or also after it was idle for so long that the provider’s cache has expired (`idle`). Use it for long sessions and small context windows.',
    ),
  max_context: z
    .int()
    .min(4000)
    .max(2_000_000)
    .default(120_000)
    .describe(
      'Estimated tokens of a conversation from which on old results are elided. 60 % of the model’s context window is a good value.',
    ),
  step: z
    .int()
    .min(2000)
    .max(1_000_000)
    .default(20_000)
    .describe(
      'Tokens by which a conversation grows before more is elided. Each time the provider’s cache is rewritten from there; smaller steps keep the context smaller and cost more.',
    ),
  keep: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(10_000)
    .describe('Tokens at the end of a conversation that stay unchanged, together with the last three results.'),
  elide_tools: z
    .array(z.string().min(1).max(200))
    .max(200)
    .default(REPEATABLE_TOOLS)
    .describe(
      'Tools whose old results may be elided; a trailing `*` matches any rest. List tools that return the same result again, not ones that store memory.',
    ),
  cache_ttl: duration({ min: '1m', max: '2h' })
    .prefault('5m')
    .describe('How long the provider’s prompt cache keeps an unused prompt; only for `elide=idle`.'),
  provider_editing: z
    .boolean()
    .default(true)
    .describe(
      'Whether Anthropic clears old results itself, if the client’s beta header allows it, instead of eliding them here. A client’s own `context_management` takes precedence.',
    ),
  max_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('64MB')
    .describe(
      'Memory for active conversations, so that only their new messages are processed. The least recently used is evicted, and processed again when needed, which takes milliseconds.',
    ),
})

/** Parsed options. */
export type CompressOptions = z.output<typeof options>

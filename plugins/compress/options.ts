import { bytes, duration, z } from 'turnpike/plugin'

/** Tools of coding agents whose results can be had again by asking again. */
const REPEATABLE_TOOLS = [
  ...['Read', 'Grep', 'Glob', 'LS', 'Bash', 'BashOutput', 'NotebookRead', 'WebFetch', 'WebSearch'],
  ...['read_file', 'list_directory', 'search_files', 'grep', 'glob', 'bash', 'shell', 'run_command', 'view', 'fetch'],
]

/** What an operator can set. */
export const options = z.strictObject({
  test_times: z
    .enum(['fold', 'keep'])
    .default('keep')
    .describe(
      'Durations in test reports: `keep`, or `fold`, with which a report that differs from an earlier one in its durations only is taken for the same; the pointer in its place says “but for times”, and the last lines stay as they are. Where tests run often and nothing depends on how long single ones take, `fold` makes sessions of their reports half as long.',
    ),
  elide: z
    .enum(['off', 'pressure', 'idle'])
    .default('off')
    .describe(
      'Experimental. Whether old results of tools are left out, with a marker in their place that keeps their names, numbers and paths: never (`off`), when the conversation is larger than `max_context` (`pressure`), or also when it was idle so long that the provider has forgotten it (`idle`). Turn it on for long sessions and small windows.',
    ),
  max_context: z
    .int()
    .min(4000)
    .max(2_000_000)
    .default(120_000)
    .describe(
      'Tokens of a conversation, as estimated, from which on old results are left out. 60 % of the model’s window is a good value.',
    ),
  step: z
    .int()
    .min(2000)
    .max(1_000_000)
    .default(20_000)
    .describe(
      'Tokens by which a conversation grows before more is left out. Each time the provider’s cache is written anew from there on; smaller steps keep the context smaller and cost more.',
    ),
  keep: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(10_000)
    .describe('Tokens at the end of a conversation that are left alone, and the last three results with them.'),
  elide_tools: z
    .array(z.string().min(1).max(200))
    .max(200)
    .default(REPEATABLE_TOOLS)
    .describe(
      'Tools whose old results may be left out; a trailing `*` stands for any rest. Take those that give the same again when asked again; a tool that is somebody’s memory is none.',
    ),
  cache_ttl: duration({ min: '1m', max: '2h' })
    .prefault('5m')
    .describe('How long the provider remembers a prompt that is not asked again; only for `elide=idle`.'),
  provider_editing: z
    .boolean()
    .default(true)
    .describe(
      'Whether Anthropic is told to clear old results itself, where the client’s beta header allows that, instead of leaving them out here. What a client itself has set in `context_management` always stands.',
    ),
  max_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('64MB')
    .describe(
      'Memory for conversations that run, so that only their new messages are worked on. What was used longest ago goes first; that costs milliseconds.',
    ),
})

/** The options, parsed. */
export type CompressOptions = z.output<typeof options>

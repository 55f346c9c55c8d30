import path from 'node:path'
import { bytes, definePlugin, z } from 'turnpike/plugin'
import { watchMisses } from './misses.ts'
import type { ToolName } from './namespaces.ts'
import { type Plan, planFor } from './plan.ts'
import { ToolLists } from './tool-list.ts'
import { loadVectors } from './words/vectors.ts'

const options = z.strictObject({
  mode: z
    .enum(['off', 'slim', 'defer', 'drop'])
    .default('slim')
    .describe(
      'What happens to tools that the conversation seems not to need. `slim`: they lose their prose and stay callable. `defer`: the provider loads them when the model searches for them; only at Anthropic, elsewhere as `slim`. `drop`: those of unlikely servers are dropped, others are slim. `off`: nothing.',
    ),
  keep: z
    .int()
    .min(0)
    .max(1000)
    .default(6)
    .describe('How many tools, the nearest to the first user message, are kept whole. More of them save less.'),
  growth: z
    .enum(['namespace', 'never'])
    .default('namespace')
    .describe(
      'Whether, in `drop`, a later turn that clearly concerns a server may restore its tools. Each time breaks the provider’s prompt cache once. `never`: the first turn decides.',
    ),
  min_tools: z
    .int()
    .min(1)
    .default(30)
    .describe('Fewest tools for which the plugin acts, not counting those that the provider runs.'),
  min_tokens: z
    .int()
    .min(0)
    .default(8000)
    .describe('Fewest tokens of all tools for which the plugin acts, estimated as bytes / 3.82.'),
  always_include: z
    .array(z.string().min(1))
    .default(['filesystem', 'shell', 'bash', 'terminal', 'time'])
    .describe(
      'Tools that stay unchanged: globs with `*` for a tool’s name, with or without prefix, or for a server’s name.',
    ),
  max_memory: bytes({ min: '8MB', max: '4GB' })
    .prefault('128MB')
    .describe(
      'Approximate memory for known tool lists, at most 50, and their tools, at most 10,000. The least recently used is evicted; a list above half of it is processed at each request, which takes 15 ms for a hundred tools.',
    ),
})

export default definePlugin({
  name: 'prune-tools',
  summary: 'Shortens or drops tools that a conversation seems not to need, and keeps the prompt cache hitting.',
  options,
  perRequest: ['mode', 'keep', 'growth'],
  needs: ['log'],
  onError: 'bypass',
  setup({ always_include, min_tools: minTools, min_tokens: minTokens, max_memory: maxBytes }, { log }) {
    const isAlwaysIncluded = ({ full, bare, namespace }: ToolName) =>
      always_include.some((pattern) => [full, bare, namespace ?? full].some((name) => path.matchesGlob(name, pattern)))
    const open = () => new ToolLists({ vectors: loadVectors(), isAlwaysIncluded, maxBytes })
    // Lazy: the word vectors take time to read, and memory.
    let opened: ToolLists | undefined
    return {
      middleware: ({ mode, keep, growth }) => {
        opened ??= open()
        const lists = opened
        return async function pruneTools(ctx, next) {
          const { exchange } = ctx.state
          if (mode === 'off') {
            exchange.idle('mode is off')
            return next()
          }
          const canDefer = exchange.target.provider === 'anthropic' && exchange.dialect.name === 'messages'
          const terms = {
            mode: mode === 'defer' && !canDefer ? 'slim' : mode,
            keep,
            growth,
            minTools,
            minTokens,
          } as const
          const plan = planFor(exchange.request, lists, terms)
          if (typeof plan === 'string') {
            exchange.idle(plan)
            return next()
          }
          if (plan.edits.length > 0) exchange.edit(...plan.edits)
          const counts = countFates(plan)
          const { tokensBefore, tokensAfter, fresh } = plan
          exchange.note('pruned', { ...counts, tokensBefore, tokensAfter })
          if (fresh.length > 0) log.info({ id: exchange.id, tools: fresh }, 'prune-tools.grown')
          const figures = Object.entries(counts).map(([name, count]) => `${name}=${count}`)
          ctx.set('x-svc-prune', [...figures, `tokens=${tokensBefore}->${tokensAfter}`].join('; '))
          await next()
          watchMisses(exchange, plan, log)
        }
      },
    }
  },
})

function countFates({ fates, grown }: Plan): Record<string, number> {
  const count = (fate: string) => fates.filter((each) => each === fate).length
  return {
    kept: count('keep'),
    slimmed: count('slim'),
    deferred: count('defer'),
    dropped: count('drop'),
    grown: grown.length,
  }
}

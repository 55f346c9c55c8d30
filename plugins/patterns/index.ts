import { bytes, definePlugin, z } from 'turnpike/plugin'
import { assertKnown, parseChoice } from './choice.ts'
import { commands } from './commands.ts'
import { assertThere, DEFAULT_DIRECTORIES, Library } from './library.ts'
import { Memory } from './memory.ts'
import { editsFor } from './place.ts'
import { planFor } from './plan.ts'

const options = z.strictObject({
  dirs: z
    .array(z.string().min(1))
    .max(32)
    .default(DEFAULT_DIRECTORIES)
    .describe(
      'Folders of patterns, each with a folder per pattern that contains a PATTERN.md, SKILL.md or system.md. Of two patterns with the same name the earlier folder’s is used.',
    ),
  use: z
    .string()
    .max(1000)
    .optional()
    .describe(
      'The patterns to inject, whatever they match, joined by `+`, or `none`. Unset: those that match. The request header `x-svc-patterns` takes precedence.',
    ),
  max_patterns: z
    .int()
    .min(0)
    .max(100)
    .default(3)
    .describe(
      'Largest number of distinct patterns in a request, those of earlier messages included. Callers can only lower it.',
    ),
  max_tokens: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(1500)
    .describe(
      'Largest number of injected tokens in a request, those in earlier messages included, by a count that errs on the high side. Raise it for long conversations or patterns. Callers can only lower it.',
    ),
  vars: z
    .record(z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), z.string().max(1000))
    .default({})
    .describe('Values of pattern variables with `from: config:<name>`.'),
  max_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('32MB')
    .describe(
      'Approximate memory for the injections of active conversations, which keep them when patterns change. The least recently used is evicted. Raise it with `max_tokens`.',
    ),
  watch: z
    .boolean()
    .default(true)
    .describe('Whether to reload the folders when a file changes. Active conversations keep their injections.'),
})

const HEADER = 'x-svc-patterns'

export default definePlugin({
  name: 'patterns',
  summary: 'Injects the operator’s instructions into matching requests, where they keep the prompt cache.',
  options,
  perRequest: ['use', 'max_patterns', 'max_tokens'],
  tightening: ['max_patterns', 'max_tokens'],
  needs: ['clock', 'log'],
  onError: 'bypass',
  commands,
  setup(operators, { clock, log }) {
    assertThere(operators.dirs)
    const memory = new Memory(clock, operators.max_memory)
    // Lazy: reading and testing patterns takes a tenth of a second, which a gateway without them need not spend.
    const open = (): Library => {
      const library = new Library({ directories: operators.dirs, isWatched: operators.watch, log })
      assertKnown(parseChoice(operators.use), library.current)
      return library
    }
    let opened = operators.use === undefined ? undefined : open()
    return {
      middleware: ({ use, max_patterns, max_tokens, vars }) => {
        opened ??= open()
        const library = opened
        const limits = {
          maxPatterns: Math.min(operators.max_patterns, max_patterns),
          maxTokens: Math.min(operators.max_tokens, max_tokens),
        }
        return async function patterns(ctx, next) {
          const { exchange } = ctx.state
          const choice = parseChoice(exchange.headers[HEADER]?.toString() || use)
          const count = library.current.patterns.size
          if (choice.kind === 'none' || (count === 0 && choice.kind !== 'named')) {
            exchange.idle(choice.kind === 'none' ? 'none is wanted' : 'no patterns in the folders')
            return next()
          }
          const plan = planFor(exchange, { library, memory, choice, limits, config: vars })
          const edits = editsFor(exchange.request, plan.placements)
          if (edits.length > 0) exchange.edit(...edits)
          for (const { name, reason } of plan.dropped) log.info({ pattern: name, reason }, 'pattern.dropped')
          if (plan.names.length > 0) ctx.set(HEADER, plan.names.join(', '))
          if (plan.names.length === 0 && plan.dropped.length === 0) exchange.idle(`none of ${count} patterns matches`)
          else
            exchange.note(plan.names.length > 0 ? 'injected' : 'dropped', {
              patterns: plan.names,
              tokens: plan.tokens,
              ...(plan.dropped.length > 0 && { dropped: plan.dropped }),
            })
          await next()
        }
      },
      close: () => opened?.close(),
    }
  },
})

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
      'Folders of patterns, each with a folder per pattern that holds a PATTERN.md, SKILL.md or system.md. Of two patterns with one name that of the earlier folder counts.',
    ),
  use: z
    .string()
    .max(1000)
    .optional()
    .describe(
      'The patterns to inject, whatever they match, joined by `+`, or `none`. Unset: those that match. A request header `x-svc-patterns` goes before it.',
    ),
  max_patterns: z
    .int()
    .min(0)
    .max(100)
    .default(3)
    .describe('Most different patterns in a request, those of earlier messages included. Callers can only lower it.'),
  max_tokens: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(1500)
    .describe(
      'Most tokens injected into a request, those in earlier messages included, by a count that is rather too high. Raise it for long conversations or long patterns. Callers can only lower it.',
    ),
  vars: z
    .record(z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), z.string().max(1000))
    .default({})
    .describe('Values for the variables of patterns that are taken `from: config:<name>`.'),
  max_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('32MB')
    .describe(
      'Memory for what running conversations were given, so that they keep it when patterns change; about. What was used longest ago goes first. Raise it with `max_tokens`.',
    ),
  watch: z
    .boolean()
    .default(true)
    .describe(
      'Whether the folders are read again when a file changes. Running conversations stay with what they have.',
    ),
})

const HEADER = 'x-svc-patterns'

export default definePlugin({
  name: 'patterns',
  summary:
    'Puts the operator’s instructions into requests whose text asks for them, at places that keep prompt caches.',
  options,
  perRequest: ['use', 'max_patterns', 'max_tokens'],
  tightening: ['max_patterns', 'max_tokens'],
  needs: ['clock', 'log'],
  onError: 'bypass',
  commands,
  setup(operators, { clock, log }) {
    assertThere(operators.dirs)
    const memory = new Memory(clock, operators.max_memory)
    // Reading and testing patterns takes a tenth of a second, which a gateway without them need not spend.
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

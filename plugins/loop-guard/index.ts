import { definePlugin, z } from 'turnpike/plugin'
import { findLoop } from './find-loop.ts'
import { headerOf, loopRefusal } from './refusal.ts'

const options = z.strictObject({
  mode: z
    .enum(['note', 'refuse'])
    .default('note')
    .describe(
      'What happens when a conversation repeats itself. `note`: the reply has the header `x-svc-loop`, and the trace the figures. `refuse`: 400 with what repeats, until the conversation differs, for example by a new message of the user. A caller may choose `refuse` where the operator has `note`, not the reverse.',
    ),
  after: z
    .int()
    .min(2)
    .max(100)
    .default(3)
    .describe(
      'Number of equal steps in a row from which a conversation repeats itself. Steps that wait or press keys count a fifth, searches without a result and confirmations a half. Raise it for agents that retry on purpose. A caller may lower it.',
    ),
})

export default definePlugin({
  name: 'loop-guard',
  summary: 'Detects conversations that repeat themselves, notes them, and refuses them if so configured.',
  options,
  perRequest: ['mode', 'after'],
  tightening: ['mode', 'after'],
  needs: [],
  onError: 'bypass',
  setup(operators) {
    return {
      middleware: (effective) => {
        const refuses = operators.mode === 'refuse' || effective.mode === 'refuse'
        const after = Math.min(operators.after, effective.after)
        return async function loopGuard(ctx, next) {
          const { exchange } = ctx.state
          if (exchange.storedInputTokens > 0) {
            exchange.idle('the provider has the history')
            return next()
          }
          // The client's own request: plugins in front may have shortened its results.
          const loop = findLoop(exchange.client.canonical, after)
          if (loop === undefined) {
            exchange.idle('nothing repeats')
            return next()
          }
          ctx.set('x-svc-loop', headerOf(loop))
          exchange.note(refuses ? 'refused' : 'repeats', { ...loop })
          if (refuses) throw loopRefusal(loop)
          return next()
        }
      },
    }
  },
})

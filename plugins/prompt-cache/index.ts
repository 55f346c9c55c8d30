import { definePlugin, type Exchange } from 'turnpike/plugin'
import { answererOf, type Usage } from 'turnpike/plugin/spend'
import { options } from './options.ts'
import type { Plan } from './plan.ts'
import { Planner } from './planner.ts'
import { Refusals } from './refusals.ts'
import { applyPlan, withoutPlaces } from './request-edits.ts'
import { outlineOf } from './request-outline.ts'
import { termsOf } from './terms.ts'
import { TokenSizes } from './token-sizes.ts'

export default definePlugin({
  name: 'prompt-cache',
  summary: 'Sets marks for the provider’s prompt cache where the client sets none and the expected reads pay for them.',
  options,
  perRequest: ['longest'],
  needs: ['clock', 'log', 'prices'],
  onError: 'bypass',
  setup({ max_conversations }, { clock, log, prices }) {
    const planner = new Planner(max_conversations)
    const sizes = new TokenSizes()
    const refusals = new Refusals()
    return {
      middleware: ({ longest }) =>
        async function promptCache(ctx, next) {
          const { exchange } = ctx.state
          const nowMs = clock.nowMs()
          const terms = termsOf(exchange, { prices, longest, nowMs })
          if (typeof terms === 'string') {
            exchange.idle(terms)
            return next()
          }
          const { request, target, caller, conversation } = exchange
          const scope = `${caller.scope} ${target.provider}/${target.model}`
          if (refusals.has(scope, nowMs)) {
            exchange.idle('the provider has refused marks within the last hour')
            return next()
          }
          const marked = outlineOf(request, exchange.preserved, sizes.bytesPerToken(scope))
          const outline = terms.writes === 'marked' ? marked : withoutPlaces(marked)
          const key = `${conversation.id} ${conversation.agent ?? ''}`
          const plan = planner.plan({ scope, conversation: key, outline, ...terms }, nowMs)
          let isEdited = false
          try {
            isEdited = applyPlan(exchange, plan, terms)
            await next()
          } catch (error) {
            plan.fail()
            throw error
          }
          if (isEdited && refusals.read(exchange, scope, nowMs)) log.warn({ id: exchange.id }, 'prompt-cache.refused')
          watch(exchange, plan, (usage) => sizes.learn(scope, plan.totalTokens, inputOf(usage)))
        },
    }
  },
})

/** Ends the plan with the reply; a stream's beginning shows that the provider has read the prompt. */
function watch(exchange: Exchange, plan: Plan, learn: (usage: Usage) => void): void {
  const { reply, target } = exchange
  const answerer = answererOf(exchange)
  const isOwn = answerer?.model === target.model && answerer.provider === target.provider
  if (reply?.status !== 200 || !isOwn) {
    plan.fail()
    return
  }
  if (reply.kind === 'stream') plan.begin()
  void reply.ended.then(({ usage }) => {
    if (usage === undefined || usage.isCounted) {
      plan.fail()
      return
    }
    learn(usage)
    settle(exchange, plan, usage)
  })
}

/** Takes in the bill, and records in the trace what the provider has read and written. */
function settle(exchange: Exchange, plan: Plan, usage: Usage): void {
  const { cacheReadInputTokens: readTokens, cacheCreationInputTokens: written, cacheCreation } = usage
  const ofHour = cacheCreation?.ephemeral1h ?? 0
  plan.settle({ inputTokens: inputOf(usage), readTokens, writtenTokens: { '5m': written - ofHour, '1h': ofHour } })
  const step = exchange.trace.find(({ module }) => module === 'prompt-cache')
  if (step?.action !== undefined) exchange.note(step.action, { readTokens, writtenTokens: written })
}

function inputOf({ inputTokens, cacheReadInputTokens, cacheCreationInputTokens }: Usage): number {
  return inputTokens + cacheReadInputTokens + cacheCreationInputTokens
}

import { definePlugin, type Exchange } from 'turnpike/plugin'
import { answererOf, type Prices, ratesOf, type Usage } from 'turnpike/plugin/spend'
import { type CacheTraits, cacheTraitsOf } from './claude-models.ts'
import { canPay, type InputPrices, type Lifetime } from './economics.ts'
import { markEdits, printMarks } from './mark-edits.ts'
import { options } from './options.ts'
import type { Plan } from './plan.ts'
import { Planner } from './planner.ts'
import { outlineOf } from './request-outline.ts'
import { TokenSizes } from './token-sizes.ts'

export default definePlugin({
  name: 'prompt-cache',
  summary: 'Sets marks for the provider’s prompt cache where the client sets none and the expected reads pay for them.',
  options,
  perRequest: ['longest'],
  needs: ['clock', 'prices'],
  onError: 'bypass',
  setup({ max_conversations }, { clock, prices }) {
    const planner = new Planner(max_conversations)
    const sizes = new TokenSizes()
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
          const outline = outlineOf(request, exchange.preserved, sizes.bytesPerToken(scope))
          const key = `${conversation.id} ${conversation.agent ?? ''}`
          const plan = planner.plan({ scope, conversation: key, outline, ...terms }, nowMs)
          if (plan.marks.length > 0) exchange.edit(...markEdits(request, plan.marks))
          report(exchange, plan, terms.leastTokens)
          const settle = (usage: Usage | undefined) => {
            const answerer = answererOf(exchange)
            const isOwn = answerer?.model === target.model && answerer.provider === target.provider
            if (isOwn && usage !== undefined && !usage.isCounted) {
              sizes.learn(scope, plan.totalTokens, inputOf(usage))
              settlePlan(exchange, plan, usage)
            } else plan.fail()
          }
          try {
            await next()
          } catch (error) {
            plan.fail()
            throw error
          }
          watch(exchange, plan, settle)
        },
    }
  },
})

interface Terms {
  readonly prices: InputPrices
  readonly leastTokens: number
}

/** Returns the terms of the request's marks, or why it gets none. */
function termsOf(
  exchange: Exchange,
  { prices, longest, nowMs }: { prices: Prices; longest: Lifetime; nowMs: number },
): Terms | string {
  const { request, client, targets, trace } = exchange
  const traits = targets.map(cacheTraitsOf)
  const [first] = traits
  if (first === undefined || traits.includes(undefined)) return 'a target takes no marks'
  if (request.shape.cacheMarks !== 'none' || client.document.shape.cacheMarks !== 'none') return 'the client sets marks'
  if (trace.some(({ module }) => module === 'cost-guard')) return 'behind cost-guard, which holds no money for marks'
  const input = inputPricesOf(exchange, prices, nowMs)
  if (input === undefined || !canPay(input)) return 'the model has no price for reads of its cache'
  const takesHour = longest === '1h' && traits.every((each) => each?.takesHour)
  return { prices: takesHour ? input : withoutHour(input), leastTokens: leastTokensOf(traits) }
}

function leastTokensOf(traits: readonly (CacheTraits | undefined)[]): number {
  return Math.max(...traits.map((each) => each?.leastTokens ?? 0))
}

function withoutHour({ read, write }: InputPrices): InputPrices {
  return { read, write: { ...write, '1h': Number.POSITIVE_INFINITY } }
}

/** Returns the prices relative to input; its length changes all of them alike. */
function inputPricesOf(exchange: Exchange, prices: Prices, atMs: number): InputPrices | undefined {
  const rates = ratesOf(exchange, prices, { target: exchange.target, inputTokens: 0, atMs })
  const { inputNanoUsd, cacheReadNanoUsd, cacheWrite5mNanoUsd, cacheWrite1hNanoUsd } = rates
  if (inputNanoUsd === 0) return undefined
  return {
    read: cacheReadNanoUsd / inputNanoUsd,
    write: { '5m': cacheWrite5mNanoUsd / inputNanoUsd, '1h': cacheWrite1hNanoUsd / inputNanoUsd },
  }
}

function inputOf({ inputTokens, cacheReadInputTokens, cacheCreationInputTokens }: Usage): number {
  return inputTokens + cacheReadInputTokens + cacheCreationInputTokens
}

/** Records in the trace what is expected of the marks, or why there are none. */
function report(exchange: Exchange, plan: Plan, leastTokens: number): void {
  const percent = Math.round(100 * plan.odds.soon)
  if (plan.marks.length > 0)
    exchange.note('marked', {
      marks: printMarks(plan.marks),
      nextTurnPercent: percent,
      expectedReadTokens: plan.expectedReadTokens,
      expectedWriteTokens: plan.expectedWriteTokens,
    })
  else if (plan.totalTokens < leastTokens)
    exchange.idle(`${plan.totalTokens} tokens: the model caches from ${leastTokens}`)
  else exchange.idle(`next turn within 5 minutes: ${percent} %, which does not pay for a write`)
}

/** Settles the plan when the reply has ended; a stream's beginning shows that the prompt has been read. */
function watch(exchange: Exchange, plan: Plan, settle: (usage: Usage | undefined) => void): void {
  const { reply } = exchange
  if (reply?.status === 200) {
    if (reply.kind === 'stream') plan.begin()
    void reply.ended.then(({ usage }) => settle(usage))
  } else plan.fail()
}

/** Takes in the bill, and records in the trace what the provider has read and written. */
function settlePlan(exchange: Exchange, plan: Plan, usage: Usage): void {
  const { cacheReadInputTokens: readTokens, cacheCreationInputTokens: written, cacheCreation } = usage
  const ofHour = cacheCreation?.ephemeral1h ?? 0
  plan.settle({ inputTokens: inputOf(usage), readTokens, writtenTokens: { '5m': written - ofHour, '1h': ofHour } })
  if (plan.marks.length > 0) exchange.note('marked', { readTokens, writtenTokens: written })
}

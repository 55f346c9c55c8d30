import { definePlugin, type Exchange, z } from 'turnpike/plugin'
import { admit } from './admission.ts'
import { costOf, estimate } from './estimate.ts'
import { Expectation } from './expectation.ts'
import { Hold } from './hold.ts'
import { lowerMaxTokens } from './lower-max-tokens.ts'
import { answersOf, isMetered } from './metering.ts'
import { toUsd } from './refusal.ts'
import { type Bill, settleFailure, settleReply } from './settlement.ts'
import { standing } from './standing.ts'
import { type Budget, budgetOf } from './windows.ts'

const usd = (what: string) =>
  z.number().min(0).max(1_000_000).optional().describe(`${what}, in USD. Tightens what the operator has set. 0 blocks.`)

const options = z.strictObject({
  per_request: usd('The most that one request may cost'),
  per_day: usd('The most that a caller may spend in a UTC day'),
  per_month: usd('The most that a caller may spend in a UTC month'),
  clamp: z
    .boolean()
    .default(true)
    .describe(
      'Whether `max_tokens` is lowered to what fits where a reply cannot be metered while it runs. Off: such a request is refused.',
    ),
  floor: z
    .int()
    .min(1)
    .default(64)
    .describe('The fewest output tokens worth having: a request that could not have them is refused.'),
})

/** Caps that hold, and lock nobody out. */
export default definePlugin({
  name: 'cost-guard',
  summary: 'Keeps spend within caps per request, day and month: money is held before it is spent.',
  options,
  perRequest: ['per_request', 'per_day', 'per_month'],
  needs: ['caps', 'clock', 'log', 'prices', 'spend', 'tokens'],
  onError: 'refuse',
  setup(operators, { caps, clock, log, prices, spend, tokens }) {
    const expectation = new Expectation()
    return {
      middleware: (effective) => {
        // A caller may lower a cap and never raise it.
        const own = {
          perRequestNanoUsd: tighter(operators.per_request, effective.per_request),
          perDayNanoUsd: tighter(operators.per_day, effective.per_day),
          perMonthNanoUsd: tighter(operators.per_month, effective.per_month),
        }
        const clamp = { isOn: effective.clamp, floorTokens: effective.floor }
        return async function costGuard(ctx, next) {
          const { exchange } = ctx.state
          const atMs = clock.nowMs()
          const budget = budgetOf(caps(exchange.caller), { ...own, scope: scopeOf(exchange) }, atMs)
          if (isUnbounded(budget)) return next()
          const answers = answersOf(exchange)
          const single = estimate(exchange, { tokens, prices }, atMs)
          const estimated = { ...single, outputTokenNanoUsd: single.outputTokenNanoUsd * answers }
          const key = `${exchange.caller.scope} ${exchange.target.provider}/${exchange.target.model}`
          const hold = new Hold(spend, exchange.id, { budget, atMs })
          const metered = isMetered(exchange)
          const tell = async () => ctx.set(await standing(budget, spend, atMs))
          const worstUsd = toUsd(costOf(estimated, exchange.request.maxTokens))
          const { maxTokens } = await exchange
            .patiently(
              admit(hold, {
                estimate: estimated,
                expectedTokens: expectation.tokens(key),
                maxTokens: exchange.request.maxTokens,
                isMetered: metered,
                clamp,
              }),
            )
            .catch(async (refusal) => {
              if (refusal.status === 429) await tell().catch(() => {})
              throw refusal
            })
          const learn = (outputTokens: number) => expectation.learn(key, Math.ceil(outputTokens / answers))
          const bill: Bill = {
            exchange,
            hold,
            estimate: estimated,
            isMetered: metered,
            atMs,
            clock,
            prices,
            log,
            learn,
          }
          let isAsked = false
          try {
            if (maxTokens !== undefined) lowerMaxTokens(exchange, maxTokens)
            exchange.note(maxTokens === undefined ? 'held' : 'clamped', {
              heldUsd: toUsd(hold.heldNanoUsd),
              worstUsd,
              ...(maxTokens !== undefined && { maxTokens }),
            })
            await tell()
            exchange.signal.throwIfAborted()
            isAsked = true
            await next()
          } catch (error) {
            settleFailure(bill, { isAsked })
            throw error
          }
          settleReply(bill)
        }
      },
    }
  },
})

function scopeOf({ caller }: Exchange): string {
  return `key:${caller.scope}`
}

function isUnbounded({ perRequestNanoUsd, windows }: Budget): boolean {
  return perRequestNanoUsd === undefined && windows.length === 0
}

/** The smaller of two bounds in USD, as nano-dollars, rounded down; the product of a decimal may fall short by a hair. */
function tighter(one: number | undefined, other: number | undefined): number | undefined {
  const bounds = [one, other].filter((bound) => bound !== undefined)
  return bounds.length === 0 ? undefined : Math.floor(Math.min(...bounds) * 1e9 + 1e-3)
}

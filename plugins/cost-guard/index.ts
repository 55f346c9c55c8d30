import { definePlugin, type Exchange, type SpendLedger, z } from 'turnpike/plugin'
import { admit, lowerMaxTokens } from './admission.ts'
import { costOf, estimate } from './estimate.ts'
import { Expectation } from './expectation.ts'
import { Hold } from './hold.ts'
import { answersOf, isMetered } from './metering.ts'
import { type Bill, settleFailure, settleReply } from './settlement.ts'
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
          const calls = answersOf(exchange)
          const single = estimate(exchange, { tokens, prices }, atMs)
          const estimated = { ...single, outputTokenNanoUsd: single.outputTokenNanoUsd * calls }
          const key = `${exchange.caller.scope} ${exchange.target.provider}/${exchange.target.model}`
          const hold = new Hold(spend, exchange.id, { budget, atMs })
          const metered = isMetered(exchange)
          const { maxTokens } = await exchange.patiently(
            admit(hold, {
              estimate: estimated,
              expectedTokens: expectation.tokens(key),
              maxTokens: exchange.request.maxTokens,
              isMetered: metered,
              clamp,
              tightestNanoUsd: tightest(budget),
            }),
          )
          const bill: Bill = {
            exchange,
            hold,
            estimate: estimated,
            isMetered: metered,
            atMs,
            prices,
            log,
            learn: (outputTokens) => expectation.learn(key, outputTokens),
          }
          try {
            if (maxTokens !== undefined) lowerMaxTokens(exchange, maxTokens)
            exchange.note(maxTokens === undefined ? 'held' : 'clamped', {
              heldUsd: hold.heldNanoUsd / 1e9,
              worstUsd: costOf(estimated, exchange.request.maxTokens) / 1e9,
              ...(maxTokens !== undefined && { maxTokens }),
            })
            for (const [name, value] of Object.entries(await standing(budget, spend))) ctx.set(name, value)
            await next()
          } catch (error) {
            settleFailure(bill)
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

function tightest({ perRequestNanoUsd, windows }: Budget): number | undefined {
  const limits = windows.map(({ limitNanoUsd }) => limitNanoUsd)
  if (perRequestNanoUsd !== undefined) limits.push(perRequestNanoUsd)
  return limits.length === 0 ? undefined : Math.min(...limits)
}

/** The smaller of two bounds in USD, as nano-dollars. */
function tighter(one: number | undefined, other: number | undefined): number | undefined {
  const bounds = [one, other].filter((bound) => bound !== undefined)
  return bounds.length === 0 ? undefined : Math.floor(Math.min(...bounds) * 1e9)
}

/** What is left in each period, for the client: the tightest of its windows. */
async function standing({ windows }: Budget, spend: Pick<SpendLedger, 'spent'>): Promise<Record<string, string>> {
  if (windows.length === 0) return {}
  const sums = await spend.spent(windows)
  const headers: Record<string, string> = {}
  const lefts = new Map<string, number>()
  for (const [index, { period, limitNanoUsd }] of windows.entries()) {
    const { settledNanoUsd = 0, heldNanoUsd = 0 } = sums[index] ?? {}
    const left = Math.max(0, limitNanoUsd - settledNanoUsd - heldNanoUsd)
    const known = lefts.get(period)
    if (known !== undefined && known <= left) continue
    lefts.set(period, left)
    headers[`x-svc-budget-${period}-limit`] = String(limitNanoUsd / 1e9)
    headers[`x-svc-budget-${period}-remaining`] = String(left / 1e9)
  }
  return headers
}

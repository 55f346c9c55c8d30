import { LRUCache } from 'lru-cache'
import { definePlugin, z } from 'turnpike/plugin'
import type { Usage } from 'turnpike/plugin/spend'
import { answererOf, costOf, estimate, estimateBySize, mostOutputTokens, toNanoUsd, toUsd } from 'turnpike/plugin/spend'
import { type AdmissionFacts, admit } from './admission.ts'
import { budgetHeaders, codexHeaders, leastLeft, removeAccountLimits, type WindowBalance } from './budget-headers.ts'
import { Expectation } from './expectation.ts'
import { Hold } from './hold.ts'
import { lowerMaxTokens, sendMaxTokens } from './lower-max-tokens.ts'
import { answersOf, isMetered, needsLimit } from './metering.ts'
import { isRefusal, withStatus } from './refusal.ts'
import { type Bill, settleFailure, settleReply } from './settlement.ts'
import { type Budget, Budgets } from './windows.ts'

/** Callers whose last remainder is known; it only decides whether a large request is estimated by its size. */
const MOST_CALLERS = 2000

const usd = (what: string) =>
  z.number().min(0).max(1_000_000).optional().describe(`${what}, in USD. Tightens the operator’s cap. 0 blocks.`)

const options = z.strictObject({
  per_request: usd('Cap on the cost of one request'),
  per_day: usd('Cap on a caller’s spend in a UTC day'),
  per_month: usd('Cap on a caller’s spend in a UTC month'),
  clamp: z
    .boolean()
    .default(true)
    .describe(
      'Whether to lower `max_tokens` to what fits if a reply cannot be metered while it is produced. Off: such requests are refused.',
    ),
  floor: z.int().min(1).default(64).describe('Fewest useful output tokens: a request that cannot get them is refused.'),
  refusal_status: z
    .literal([429, 402])
    .default(429)
    .describe(
      'HTTP status of a refusal. Coding agents other than Claude Code and Codex treat 429 as a short rate limit and retry; with 402 nearly all stop and show the message. Clients of Responses get 429 with the type `usage_limit_reached` in any case, and paid calls of agents 429, since 402 requests a payment there.',
    ),
  codex_limits: z
    .boolean()
    .default(false)
    .describe(
      'Whether replies to clients of Responses have the share of the caller’s caps that is spent, as `x-codex-primary-used-percent` (day) and `x-codex-secondary-used-percent` (month) with their windows: Codex shows them in `/status` as the limits of the account.',
    ),
})

export default definePlugin({
  name: 'cost-guard',
  summary: 'Enforces caps per request, day and month: money is held before it is spent.',
  options,
  perRequest: ['per_request', 'per_day', 'per_month'],
  tightening: ['per_request', 'per_day', 'per_month'],
  needs: ['caps', 'clock', 'log', 'prices', 'spend', 'tokens'],
  onError: 'refuse',
  setup(operators, { caps, clock, log, prices, spend, tokens }) {
    const expectation = new Expectation()
    const lastLeft = new LRUCache<string, number>({ max: MOST_CALLERS })
    return {
      middleware: (effective) => {
        // A caller may lower a cap but never raise it.
        const own = {
          perRequestNanoUsd: tighter(operators.per_request, effective.per_request),
          perDayNanoUsd: tighter(operators.per_day, effective.per_day),
          perMonthNanoUsd: tighter(operators.per_month, effective.per_month),
        }
        const budgets = new Budgets(own)
        const clamp = { isOn: effective.clamp, floorTokens: effective.floor }
        return async function costGuard(ctx, next) {
          const { exchange } = ctx.state
          const atMs = clock.nowMs()
          const budget = budgets.of(exchange.caller, caps(exchange.caller), atMs)
          if (isUnbounded(budget)) {
            exchange.idle('no cap is set')
            return next()
          }
          const { name: dialect } = exchange.dialect
          const setBudgetHeaders = (windows: readonly WindowBalance[]) => {
            ctx.set(budgetHeaders(windows, { atMs, isMessages: dialect === 'messages' }))
            if (operators.codex_limits && dialect === 'responses') ctx.set(codexHeaders(windows, atMs))
          }
          const answers = answersOf(exchange)
          // Estimated before the guard itself may lower the limit.
          const { request, targets, client, caller, storedInputTokens } = exchange
          const asked = { request, targets, client, storedInputTokens }
          const counter = tokens.forCaller?.(caller.scope) ?? tokens
          const estimators = { tokens: counter, prices }
          const weigh = once(() => estimate(asked, estimators, { answers, atMs }))
          const key = `${caller.scope} ${exchange.target.provider}/${exchange.target.model}`
          const hold = new Hold(spend, exchange.id, { budget, atMs })
          const facts: AdmissionFacts = {
            weigh,
            bySize: estimateBySize(asked, estimators, { answers, atMs }),
            lastLeftNanoUsd: lastLeft.get(caller.scope) ?? Number.POSITIVE_INFINITY,
            expectedTokens: expectation.tokens(key),
            maxTokens: mostOutputTokens(request),
            isMetered: isMetered(exchange),
            clamp,
          }
          const orRefusal = admit(hold, facts).catch(async (error) => {
            if (!isRefusal(error)) throw error
            lastLeft.set(caller.scope, 0)
            // Without a reply of the ledger the refusal omits these headers.
            setBudgetHeaders(await hold.currentBalances().catch(() => []))
            throw withStatus(error, exchange.route === 'agent' ? error.status : operators.refusal_status)
          })
          // The ledger serves a burst one request after another, refusals too.
          const admission = await exchange.withoutTimeout(orRefusal)
          const { maxTokens } = admission
          setBudgetHeaders(hold.balances)
          lastLeft.set(caller.scope, leastLeft(hold.balances))
          const bill: Bill = {
            exchange,
            hold,
            admission,
            weigh,
            isMetered: facts.isMetered,
            atMs,
            clock,
            prices,
            log,
            learn(usage) {
              if (usage.isCounted || storedInputTokens > 0) return
              expectation.learn(key, Math.ceil(usage.outputTokens / answers))
              counter.learn?.(request, (answererOf(exchange) ?? exchange.target).model, inputTokensOf(usage))
            },
          }
          let isAsked = false
          try {
            noteAdmission(bill)
            if (bill.isMetered) exchange.limitAnswer({ outputTokens: Number.POSITIVE_INFINITY })
            if (maxTokens !== undefined) lowerMaxTokens(exchange, maxTokens)
            else if (needsLimit(exchange)) sendMaxTokens(exchange)
            exchange.signal.throwIfAborted()
            isAsked = true
            await next()
            if (dialect === 'responses' && exchange.reply !== undefined) removeAccountLimits(exchange.reply.headers)
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

/** Records in the trace the held amount, the most the request can cost, and a lowered `max_tokens`. */
function noteAdmission({ exchange, hold, admission: { estimate, maxTokens } }: Bill): void {
  const heldUsd = toUsd(hold.heldNanoUsd)
  const worstUsd = toUsd(costOf(estimate, mostOutputTokens(exchange.request)))
  if (maxTokens === undefined) exchange.note('held', { heldUsd, worstUsd })
  else exchange.note('clamped', { heldUsd, worstUsd, maxTokens })
}

/** Computes on first use. */
function once<Value extends object>(compute: () => Value): () => Value {
  let value: Value | undefined
  return () => {
    value ??= compute()
    return value
  }
}

function isUnbounded({ perRequestNanoUsd, windows }: Budget): boolean {
  return perRequestNanoUsd === undefined && windows.length === 0
}

/** Returns the smaller of two caps in USD, as nano-dollars. */
function tighter(one: number | undefined, other: number | undefined): number | undefined {
  const bounds = [one, other].filter((bound) => bound !== undefined)
  return bounds.length === 0 ? undefined : toNanoUsd(Math.min(...bounds))
}

function inputTokensOf({ inputTokens, cacheReadInputTokens, cacheCreationInputTokens }: Usage): number {
  return inputTokens + cacheReadInputTokens + cacheCreationInputTokens
}

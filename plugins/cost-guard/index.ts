import { LRUCache } from 'lru-cache'
import { definePlugin } from 'turnpike/plugin'
import { answererOf, costOf, estimate, estimateBySize, mostOutputTokens, toUsd } from 'turnpike/plugin/spend'
import type { AdmissionFacts } from './admission.ts'
import { budgetHeaders, leastLeft, type WindowBalance } from './budget-headers.ts'
import { limitFormOf, limitHeaders, toBillingError } from './client-limits.ts'
import { Expectation } from './expectation.ts'
import { inputTokensOf } from './input.ts'
import { lowerMaxTokens, sendMaxTokens } from './lower-max-tokens.ts'
import { answersOf, isMetered, needsLimit } from './metering.ts'
import { CAP_NAMES, options, ownCaps } from './options.ts'
import { isRefusal, withStatus } from './refusal.ts'
import { RequestHolds } from './request-holds.ts'
import { type Bill, settleFailure, settleReply } from './settlement.ts'
import { type Budget, Budgets } from './windows.ts'

/** Callers whose last remainder is known; it only decides whether a large request is estimated by its size. */
const MOST_CALLERS = 2000

export default definePlugin({
  name: 'cost-guard',
  summary: 'Enforces caps per request, day, month and conversation: money is held before it is spent.',
  options,
  perRequest: CAP_NAMES,
  tightening: CAP_NAMES,
  needs: ['caps', 'clock', 'log', 'prices', 'spend', 'tokens'],
  onError: 'refuse',
  setup(operators, { caps, clock, log, prices, spend, tokens }) {
    const expectation = new Expectation()
    const lastLeft = new LRUCache<string, number>({ max: MOST_CALLERS })
    return {
      middleware: (effective) => {
        // A caller may lower a cap but never raise it.
        const budgets = new Budgets(ownCaps(operators, effective))
        const clamp = { isOn: effective.clamp, floorTokens: effective.floor }
        return async function costGuard(ctx, next) {
          const { exchange } = ctx.state
          const atMs = clock.nowMs()
          const budget = budgets.of(exchange, caps(exchange), atMs)
          if (isUnbounded(budget)) {
            exchange.idle('no cap is set')
            return next()
          }
          const { name: dialect } = exchange.dialect
          const limitForm = operators.client_limits ? limitFormOf(exchange) : undefined
          const setBudgetHeaders = (windows: readonly WindowBalance[], isRefused = false) => {
            ctx.set(budgetHeaders(windows, { atMs, isMessages: dialect === 'messages' }))
            if (limitForm !== undefined) ctx.set(limitHeaders(limitForm, windows, { atMs, isRefused }))
          }
          const answers = answersOf(exchange)
          // Estimated before the guard itself may lower the limit.
          const { request, targets, client, caller, storedInputTokens } = exchange
          const asked = { request, targets, client, storedInputTokens }
          const counter = tokens.forCaller?.(caller.scope) ?? tokens
          const estimators = { tokens: counter, prices }
          const weigh = once(() => estimate(asked, estimators, { answers, atMs }))
          const key = `${caller.scope} ${exchange.target.provider}/${exchange.target.model}`
          const holds = new RequestHolds(spend, exchange.id, { budget, answers, atMs })
          const leftKey = budget.conversation ?? caller.scope
          const facts: AdmissionFacts = {
            weigh,
            bySize: estimateBySize(asked, estimators, { answers, atMs }),
            lastLeftNanoUsd: lastLeft.get(leftKey) ?? Number.POSITIVE_INFINITY,
            expectedTokens: expectation.tokens(key),
            maxTokens: mostOutputTokens(request),
            isMetered: isMetered(exchange),
            clamp,
          }
          const orRefusal = holds.admit(facts).catch(async (error) => {
            if (!isRefusal(error)) throw error
            lastLeft.set(leftKey, 0)
            // Without a reply of the ledger the refusal omits these headers.
            setBudgetHeaders(await holds.currentBalances().catch(() => []), true)
            if (limitForm === 'claude-code') throw toBillingError(error, atMs)
            throw withStatus(error, exchange.route === 'agent' ? error.status : operators.refusal_status)
          })
          // The ledger serves a burst one request after another, refusals too.
          const admission = await exchange.withoutTimeout(orRefusal)
          const { maxTokens } = admission
          setBudgetHeaders(holds.balances)
          lastLeft.set(leftKey, leastLeft(holds.money.balances))
          const bill: Bill = {
            exchange,
            holds,
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
            exchange.hideAccountLimits()
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
function noteAdmission({ exchange, holds, admission: { estimate, maxTokens } }: Bill): void {
  const heldUsd = toUsd(holds.money.heldNanoUsd)
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

function isUnbounded({ perRequestNanoUsd, windows, conversation }: Budget): boolean {
  return perRequestNanoUsd === undefined && windows.length === 0 && conversation === undefined
}

/** The entry point `turnpike/plugin/spend`: caps, prices, usage, estimates and the ledger, for plugins that limit spending. */
export {
  BUDGET_NAMES,
  BUDGETS,
  type BudgetName,
  budgetWindow,
  type NamedBudget,
  readBudgetWindow,
} from '../core/money/budget-windows.ts'
export type { BudgetLimits, Cap, Caps } from '../core/money/caps.ts'
export {
  costOf,
  type Estimate,
  estimate,
  estimateBySize,
  mostOutputTokens,
  tokensFor,
  withMargin,
} from '../core/money/estimate.ts'
export { claudeVersion, leastCachedTokens } from '../core/money/least-cached.ts'
export { answererOf, type Prices, ratesOf } from '../core/money/prices.ts'
export { roomIn } from '../core/money/room-in.ts'
export { toNanoUsd, toUsd } from '../core/money/usd.ts'
export type { Reservation, SpendLedger, SpendSums, SpendWindow } from '../core/ports/spend-ledger.ts'
export type { Usage } from '../core/reply/usage.ts'
export { targetsWithNamed } from '../core/request/named-models.ts'

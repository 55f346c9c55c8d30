/** The entry point `turnpike/plugin/spend`: caps, prices, usage, estimates and the ledger, for plugins that limit spending. */
export type { Cap, Caps, Prices } from '../core/money/caps.ts'
export { costOf, type Estimate, estimate, mostOutputTokens, tokensFor } from '../core/money/estimate.ts'
export type { Reservation, SpendLedger, SpendSums, SpendWindow } from '../core/ports/spend-ledger.ts'
export type { Usage } from '../core/reply/usage.ts'
export type { Target } from '../core/request/exchange.ts'
export { targetsWithNamed } from '../core/request/named-models.ts'

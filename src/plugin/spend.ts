/** The entry point `turnpike/plugin/spend`: caps, prices, usage, estimates and the ledger, for plugins that limit spending. */
export type { Cap, Caps } from '../core/money/caps.ts'
export { costOf, type Estimate, estimate, estimateBySize, mostOutputTokens, tokensFor } from '../core/money/estimate.ts'
export { answererOf, type Prices } from '../core/money/prices.ts'
export { toNanoUsd, toUsd } from '../core/money/usd.ts'
export type { Reservation, SpendLedger, SpendSums, SpendWindow } from '../core/ports/spend-ledger.ts'
export type { Usage } from '../core/reply/usage.ts'
export { targetsWithNamed } from '../core/request/named-models.ts'

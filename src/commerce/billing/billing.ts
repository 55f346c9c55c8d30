import { GatewayError } from '../../core/errors.ts'
import type { AutoRecharge, Balance } from '../../core/ports/billing.ts'
import { type CheckoutRequest, checkOut, openPortal } from './checkout.ts'
import { notConfigured, toGatewayError } from './errors.ts'
import type { BillingParts } from './parts.ts'
import { type RoundTimes, startRounds } from './rounds.ts'
import { takeWebhook } from './webhook.ts'

/** What an account's owner sets about recharging. */
type AutoRechargeChange = Omit<AutoRecharge, 'disabledReason'>

/** Plans, credits and cards, as the routes see them. */
export interface Billing {
  balance(accountId: string): Promise<Balance>
  /** Throws `not_configured`, `invalid_request`, `service_unavailable`. */
  checkOut(wish: CheckoutRequest): Promise<{ url: string; sessionId: string }>
  /** Throws like `checkOut`. */
  openPortal(wish: { accountId: string; returnUrl: string }): Promise<{ url: string }>
  /** Throws `not_configured`; `invalid_request` for an account without a plan. */
  setAutoRecharge(accountId: string, wish: AutoRechargeChange): Promise<void>
  /** Throws `invalid_request` for a delivery that Stripe did not sign. */
  takeWebhook(delivery: { body: Buffer; signature: string }): Promise<void>
  /** Ends what it does by itself. */
  close(): Promise<void>
}

/** Puts billing together and starts what it does by itself. Without a key it only tells balances. */
export function createBilling(parts: BillingParts, rounds: { times: RoundTimes; randomId: () => string }): Billing {
  const stop = parts.stripe === undefined ? async () => {} : startRounds(parts, rounds)
  return {
    balance: (accountId) => parts.store.balance(accountId),
    checkOut: (wish) => told(checkOut(parts, wish)),
    openPortal: (wish) => told(openPortal(parts, wish)),
    async setAutoRecharge(accountId, wish) {
      if (parts.stripe === undefined)
        throw notConfigured('This gateway charges no cards: its operator has set no STRIPE_SECRET_KEY.')
      assertReachable(wish)
      await parts.store.setAutoRecharge(accountId, wish)
    },
    takeWebhook: (delivery) => takeWebhook(parts, delivery),
    close: stop,
  }
}

/** A recharge brings the account above its threshold, so that one is enough, and a month has room for it. */
function assertReachable({ thresholdCredits, amountCredits, monthlyLimitCredits }: AutoRechargeChange): void {
  if (amountCredits <= thresholdCredits)
    throw new GatewayError(
      'invalid_request',
      `autoRechargeAmount: expected more than autoRechargeThreshold (${thresholdCredits}), got ${amountCredits}.`,
    )
  if (monthlyLimitCredits < amountCredits)
    throw new GatewayError(
      'invalid_request',
      `autoRechargeMonthlyLimit: expected at least autoRechargeAmount (${amountCredits}), got ${monthlyLimitCredits}.`,
    )
}

/** Errors of Stripe become ours. */
async function told<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw toGatewayError(error)
  }
}

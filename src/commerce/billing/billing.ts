import { GatewayError } from '../../core/errors.ts'
import type { AutoRecharge, Balance } from '../../core/ports/billing.ts'
import { type CheckoutRequest, checkOut, openPortal } from './checkout.ts'
import { notConfigured, toGatewayError } from './errors.ts'
import type { BillingParts } from './parts.ts'
import { type RoundTimes, startRounds } from './rounds.ts'
import { takeWebhook } from './webhook.ts'

/** An account owner's auto-recharge settings. */
type AutoRechargeChange = Omit<AutoRecharge, 'disabledReason'>

/** Plans, credits and cards, for the routes. */
export interface Billing {
  balance(accountId: string): Promise<Balance>
  /** Throws `not_configured`, `invalid_request`, `service_unavailable`. */
  checkOut(request: CheckoutRequest): Promise<{ url: string; sessionId: string }>
  /** Throws like `checkOut`. */
  openPortal(request: { accountId: string; returnUrl: string }): Promise<{ url: string }>
  /** Throws `not_configured`; `invalid_request` for an account without a plan. */
  setAutoRecharge(accountId: string, change: AutoRechargeChange): Promise<void>
  /** Throws `invalid_request` for a delivery that Stripe did not sign. */
  takeWebhook(delivery: { body: Buffer; signature: string }): Promise<void>
  /** Stops the background rounds. */
  close(): Promise<void>
}

/** Creates billing and starts its background rounds. Without a key it only serves balances. */
export function createBilling(parts: BillingParts, rounds: { times: RoundTimes; randomId: () => string }): Billing {
  const stop = parts.stripe === undefined ? async () => {} : startRounds(parts, rounds)
  return {
    balance: (accountId) => parts.store.balance(accountId),
    checkOut: (request) => withGatewayErrors(checkOut(parts, request)),
    openPortal: (request) => withGatewayErrors(openPortal(parts, request)),
    async setAutoRecharge(accountId, change) {
      if (parts.stripe === undefined)
        throw notConfigured('This gateway charges no cards: its operator has set no STRIPE_SECRET_KEY.')
      assertReachable(change)
      await parts.store.setAutoRecharge(accountId, change)
    },
    takeWebhook: (delivery) => takeWebhook(parts, delivery),
    close: stop,
  }
}

/** Checks that one recharge raises the balance above its threshold, and that a month has room for it. */
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

/** Converts Stripe's errors to the gateway's. */
async function withGatewayErrors<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw toGatewayError(error)
  }
}

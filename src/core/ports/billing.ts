/**
 * Port of the billing database. Every method rejects with `service_unavailable` while the database does not answer; the
 * command has then taken effect wholly or not at all, and may be repeated. Methods with an `eventId` record that event in
 * the same transaction as its effect.
 */

/** Tier with a subscription. */
export type PaidTier = 'pro' | 'team'

/** Tier of an account. */
export type AccountTier = 'free' | PaidTier

/** One US dollar in credits. */
export const CREDITS_PER_USD = 100_000

/** One cent in credits. */
export const CREDITS_PER_CENT = CREDITS_PER_USD / 100

/** Settings of automatic recharging. */
export interface AutoRecharge {
  readonly enabled: boolean
  readonly thresholdCredits: number
  readonly amountCredits: number
  readonly monthlyLimitCredits: number
  /** Reason why the gateway switched it off; `null`: it did not. */
  readonly disabledReason: string | null
}

/** Balance as shown to an account's owner. */
export interface Balance {
  readonly tier: AccountTier
  /** Credits that can be spent: posted, less held. */
  readonly credits: number
  readonly periodEndMs: number | null
  /** `undefined`: never set. */
  readonly autoRecharge: AutoRecharge | undefined
}

/** A subscription as it was fetched. */
export interface FetchedSubscription {
  readonly id: string
  readonly accountId: string
  readonly status: string
  readonly tier: PaidTier
  readonly periodStartMs: number
  readonly periodEndMs: number
}

/** A completed payment, for which credits are granted once. */
export interface FetchedPayment {
  /** `invoice:<id>`, `trial:<account>` or `recharge:<id>`. */
  readonly paymentId: string
  readonly accountId: string
  readonly credits: number
}

/** A paid invoice, or a trial. */
export interface FetchedInvoice extends FetchedPayment {
  /** Charges (positive) and refunds (negative) by its prorations, in credits. */
  readonly proratedCredits: number
}

/** Refund or dispute of a payment. */
export interface FetchedReversal {
  readonly paymentId: string
  /** Share of the payment that is refunded or in dispute, from 0 to 1. */
  readonly share: number
  /** True if it is or ever was disputed. */
  readonly isDisputed: boolean
}

/** A recharge to be charged. */
export interface PendingRecharge {
  readonly id: string
  readonly accountId: string
  readonly credits: number
  readonly customerId: string | null
  readonly paymentMethodId: string | null
  readonly createdAtMs: number
}

/** Result of a recharge at the payment provider. */
export interface RechargeEnd {
  readonly id: string
  readonly accountId: string
  readonly credits: number
  readonly outcome: 'succeeded' | 'failed'
  /** Code of the provider for a failed one. */
  readonly reason?: string | undefined
}

/** Calls of an hour to report. */
export interface MeterReport {
  readonly id: string
  readonly accountId: string
  readonly hourMs: number
  readonly part: number
  readonly calls: number
  /** Calls of this and the earlier parts. */
  readonly callsSoFar: number
  /** Moment of the first try, if any; in milliseconds since 1970. */
  readonly triedAtMs: number | null
}

/** A fetch, by the ticket that was taken before it, and the event that caused it. */
export interface Fetch {
  readonly ticket: number
  readonly eventId?: string | undefined
}

/** An account's customer at the payment provider. */
export interface Customer {
  readonly customerId: string | null
  readonly generation: number
}

/** Stores billing data. */
export interface BillingStore {
  balance(accountId: string): Promise<Balance>
  /** Takes a ticket for a fetch: data fetched under a later ticket is as new or newer. */
  takeTicket(): Promise<number>
  hasSeen(eventId: string): Promise<boolean>
  customer(accountId: string): Promise<Customer>
  /** Stores an account's customer; resolves with the valid one, since another process may have been first. */
  putCustomer(customer: { accountId: string; customerId: string }): Promise<string>
  accountOf(customerId: string): Promise<string | undefined>
  /** Removes a customer that was deleted at the provider, and switches recharging off. */
  forgetCustomer(customerId: string, eventId?: string): Promise<void>
  /** Lists subscriptions that are paid for or could be again. */
  liveSubscriptions(accountId: string): Promise<readonly string[]>
  /** Stores a subscription unless a later fetch has, and sets its account's tier and period by all of them. */
  applySubscription(subscription: FetchedSubscription, fetch: Fetch): Promise<void>
  /** Grants the credits of an invoice, once, and takes back those for which prorations have returned money. */
  applyPayment(payment: FetchedInvoice, eventId?: string): Promise<void>
  /** Takes the credits of refunds and disputes, or gives them back, unless a later fetch has. */
  applyReversal(reversal: FetchedReversal, fetch: Fetch): Promise<void>
  /** Stores the settings. Throws `invalid_request` for an account without a paid plan. */
  setAutoRecharge(accountId: string, settings: Omit<AutoRecharge, 'disabledReason'>): Promise<void>
  /** Lists accounts with credits below their threshold and no recharge in flight, at most 50. */
  belowThreshold(): Promise<readonly string[]>
  /** Claims a recharge of an account; `undefined` when it needs none any more, has one in flight, or is at its limit. */
  claimRecharge(claim: { accountId: string; rechargeId: string }): Promise<PendingRecharge | undefined>
  /** Leases pending recharges without news for long, each for a minute or more. */
  takeStaleRecharges(): Promise<readonly PendingRecharge[]>
  /** Fixes the customer and amount of a recharge's charge; the first call counts. */
  fixRecharge(
    id: string,
    means: { customerId: string; paymentMethodId: string },
  ): Promise<{ customerId: string; paymentMethodId: string }>
  /** Ends a recharge, once: grants its credits, or switches recharging off. */
  endRecharge(end: RechargeEnd, eventId?: string): Promise<void>
  /** Stores the reports of hours that have ended. */
  collectMeterReports(): Promise<void>
  /** Leases reports that are due, each for a minute or more. */
  takeMeterReports(): Promise<readonly MeterReport[]>
  endMeterReport(id: string, state: 'sent' | 'lost'): Promise<void>
  /** Claims a task that one of all instances runs once in `everyMs`; resolves with `true` for the one. */
  claimTask(name: string, everyMs: number): Promise<boolean>
  /** Deletes events that are too old to be sent again, at most 200; resolves with their number. */
  pruneEvents(): Promise<number>
}

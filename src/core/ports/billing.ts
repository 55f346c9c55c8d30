/**
 * What billing asks of the database, whichever it is. Every method rejects with `service_unavailable` while the database
 * does not answer; what was asked has then happened wholly or not at all, and may be asked again. Methods that carry an
 * `eventId` remember that event in the same transaction as its effect.
 */

/** A plan that is paid for. */
export type PaidTier = 'pro' | 'team'

/** What an account pays for. */
export type AccountTier = 'free' | PaidTier

/** One US dollar in credits. */
export const CREDITS_PER_USD = 100_000

/** One cent in credits. */
export const CREDITS_PER_CENT = CREDITS_PER_USD / 100

/** When and how an account recharges by itself. */
export interface AutoRecharge {
  readonly enabled: boolean
  readonly thresholdCredits: number
  readonly amountCredits: number
  readonly monthlyLimitCredits: number
  /** Why it was switched off other than by its owner; `null`: it was not. */
  readonly disabledReason: string | null
}

/** What an account's owner sees. */
export interface Balance {
  readonly tier: AccountTier
  /** What can be spent: posted, less what is held. */
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

/** A payment that is complete, for which credits are given once. */
export interface FetchedPayment {
  /** `invoice:<id>`, `trial:<account>` or `recharge:<id>`. */
  readonly paymentId: string
  readonly accountId: string
  readonly credits: number
}

/** A paid invoice, or a trial. */
export interface FetchedInvoice extends FetchedPayment {
  /** What its prorations have charged (positive) or returned money (negative) for, in credits. */
  readonly proratedCredits: number
}

/** What became of a payment later. */
export interface FetchedReversal {
  readonly paymentId: string
  /** How much of the payment is refunded or in dispute, from 0 to 1. */
  readonly share: number
  /** Whether it is or ever was disputed. */
  readonly isDisputed: boolean
}

/** A recharge that is to be called for. */
export interface PendingRecharge {
  readonly id: string
  readonly accountId: string
  readonly credits: number
  readonly customerId: string | null
  readonly paymentMethodId: string | null
  readonly createdAtMs: number
}

/** What became of a recharge at the payment provider. */
export interface RechargeEnd {
  readonly id: string
  readonly accountId: string
  readonly credits: number
  readonly outcome: 'succeeded' | 'failed'
  /** Of a failed one: the provider's code. */
  readonly reason?: string | undefined
}

/** Calls of an hour to be reported. */
export interface MeterReport {
  readonly id: string
  readonly accountId: string
  readonly hourMs: number
  readonly part: number
  readonly calls: number
  /** The same with those of the parts before. */
  readonly callsSoFar: number
  /** When it was tried first, if ever; in milliseconds since 1970. */
  readonly triedAtMs: number | null
}

/** A fetch, by the ticket that was taken before it, and the event that led to it. */
export interface Fetch {
  readonly ticket: number
  readonly eventId?: string | undefined
}

/** Who an account is at the payment provider. */
export interface Customer {
  readonly customerId: string | null
  readonly generation: number
}

/** Keeps what billing knows. */
export interface BillingStore {
  balance(accountId: string): Promise<Balance>
  /** Takes a ticket for a fetch: what is fetched under a later one is as new or newer. */
  takeTicket(): Promise<number>
  hasSeen(eventId: string): Promise<boolean>
  customer(accountId: string): Promise<Customer>
  /** Resolves with the customer that the account has from now on: another may have been first. */
  putCustomer(customer: { accountId: string; customerId: string }): Promise<string>
  accountOf(customerId: string): Promise<string | undefined>
  /** The customer is gone at the provider: forgets it, and switches recharging off. */
  forgetCustomer(customerId: string, eventId?: string): Promise<void>
  /** Subscriptions that are paid for or could be again. */
  liveSubscriptions(accountId: string): Promise<readonly string[]>
  /** Writes a subscription down unless a later fetch has, and sets its account's tier and period by all of them. */
  applySubscription(subscription: FetchedSubscription, fetch: Fetch): Promise<void>
  /** Gives the credits of an invoice, once, and takes back those for which prorations have returned money. */
  applyPayment(payment: FetchedInvoice, eventId?: string): Promise<void>
  /** Takes the credits of what was refunded or is disputed, or gives them back, unless a later fetch has. */
  applyReversal(reversal: FetchedReversal, fetch: Fetch): Promise<void>
  /** Throws `invalid_request` for an account without a paid plan. */
  setAutoRecharge(accountId: string, settings: Omit<AutoRecharge, 'disabledReason'>): Promise<void>
  /** Accounts with credits below their threshold and no recharge under way, at most 50. */
  belowThreshold(): Promise<readonly string[]>
  /** Claims a recharge of an account; `undefined` when it needs none any more, has one under way, or is at its limit. */
  claimRecharge(claim: { accountId: string; rechargeId: string }): Promise<PendingRecharge | undefined>
  /** Pending recharges of which nothing was heard for long; who gets one has it for a minute or more. */
  takeStaleRecharges(): Promise<readonly PendingRecharge[]>
  /** Fixes whom and what a recharge charges; the first to do so counts. */
  fixRecharge(
    id: string,
    means: { customerId: string; paymentMethodId: string },
  ): Promise<{ customerId: string; paymentMethodId: string }>
  /** Ends a recharge, once: gives its credits, or switches recharging off. */
  endRecharge(end: RechargeEnd, eventId?: string): Promise<void>
  /** Writes down what is to be reported of hours that have ended. */
  collectMeterReports(): Promise<void>
  /** Reports that are due; who gets one has it for a minute or more. */
  takeMeterReports(): Promise<readonly MeterReport[]>
  endMeterReport(id: string, state: 'sent' | 'lost'): Promise<void>
  /** Whether the caller is to do what all instances together do once in `everyMs`. */
  claimTask(name: string, everyMs: number): Promise<boolean>
  /** Deletes events that are too old to be sent again, at most 200; resolves with how many. */
  pruneEvents(): Promise<number>
}

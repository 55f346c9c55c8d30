/** Way of taking money: held first and captured when the reply is there, or charged at once. */
export type SettlementMode = 'manual' | 'automatic'

/** Start of the ids of the sandbox's payments, which are no money. */
export const SANDBOX_REFERENCE = 'sandbox_pi_'

/** Returns the method of a payment for books and receipts. */
export function methodOfPayment(reference: string): 'stripe' | 'sandbox' {
  return reference.startsWith(SANDBOX_REFERENCE) ? 'sandbox' : 'stripe'
}

/**
 * State of a payment. Before the first, its challenge is issued: signed, and of a window that the store has.
 * `claimed`: a token was presented for it; `authorized`: the money is held; `captured`: taken; `consumed`: and the reply
 * is being sent. `failed`: the payment provider has refused; `expired`: no client continued it, and nothing is taken.
 */
export type PaymentState = 'claimed' | 'authorized' | 'captured' | 'consumed' | 'failed' | 'expired'

/** States from which a payment can continue. */
export type OpenPaymentState = Extract<PaymentState, 'claimed' | 'authorized' | 'captured'>

/** Command to the store when a token is presented for a challenge. */
export interface PaymentClaim {
  readonly challengeId: string
  /** Window in which the challenge was issued. */
  readonly windowId: string
  /** The challenge's end, in milliseconds since 1970 by the store's clock. */
  readonly expiresAtMs: number
  /** SHA-256 of the token, hexadecimal: another token cannot continue the payment. */
  readonly tokenHash: string
  readonly amountCents: number
  readonly currency: string
  readonly settlement: SettlementMode
  /** The route, and the requested model, that are paid for. */
  readonly route: string
  readonly model: string
  /** The process that works on it, and for how long unless that is renewed. */
  readonly owner: string
  readonly leaseMs: number
}

/** A payment that only this owner may continue. */
export interface HeldPayment {
  readonly challengeId: string
  readonly owner: string
  /** Counts the owners; an earlier owner can change nothing any more. */
  readonly fence: number
  readonly state: OpenPaymentState
  /** Mode at its begin, which it keeps, whatever is configured later. */
  readonly settlement: SettlementMode
  /** The payment provider's id of the payment, once it has one. */
  readonly reference: string | undefined
}

/** Final reason why a challenge cannot be paid with a token. */
export type ClaimRefusal = 'unknown' | 'expired' | 'consumed' | 'failed' | 'other-token'

/** Result of a claim. `busy`: another request works on it with the same token, or its end is being reconciled. */
export type ClaimOutcome =
  | { readonly kind: 'held'; readonly payment: HeldPayment }
  | { readonly kind: 'busy' }
  | { readonly kind: 'refused'; readonly why: ClaimRefusal }

/** A payment that was overdue at this moment, by the store's clock. */
export interface OverduePayment extends HeldPayment {
  readonly dueAtMs: number
}

/**
 * Calls, of a challenge and of a session each, that are given back when the client disconnects after the provider was
 * called. A provider bills for them; every further one counts as delivered.
 */
export const FREE_LEFT_CALLS = 2

/** Result of a call whose client disconnected after the provider was called. */
export type LeftCall = 'given-back' | 'delivered'

/** A transition of a payment by its owner. */
export interface PaymentMove extends Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'> {
  readonly from: OpenPaymentState
  readonly to: Exclude<PaymentState, 'claimed'>
  /** Set when the money is held or taken. */
  readonly reference?: string | undefined
}

/** An owner of a payment, and the duration of its renewed lease. */
export interface PaymentLease extends Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'> {
  readonly leaseMs: number
}

/** A captured payment, in the fields that are public. */
export interface SettledPayment {
  readonly capturedAtMs: number
  /** Sorts payments of the same moment. */
  readonly challengeId: string
  readonly amountCents: number
  readonly currency: string
  readonly reference: string
  readonly model: string
  readonly route: string
  readonly state: 'captured' | 'consumed'
}

/** A page of settled payments, newest first. */
export interface SettledPage {
  readonly before?: Pick<SettledPayment, 'capturedAtMs' | 'challengeId'> | undefined
  readonly limit: number
}

/**
 * Keeps payments, for all instances together. Every transition is one compare-and-set: of two that try it, one succeeds.
 * Every method rejects with `service_unavailable` while the database does not answer; the transition may then be done.
 */
export interface PaymentStore {
  /** Records that challenges are issued from now on, for a minute; returns the store's time, in milliseconds since 1970. */
  openWindow(windowId: string): Promise<number>
  claim(claim: PaymentClaim): Promise<ClaimOutcome>
  /** Makes a transition; `false` when the payment has another owner, or has left that state. */
  move(move: PaymentMove): Promise<boolean>
  /** Renews the owner's lease; `false` when the payment has another owner, or has ended. */
  renew(lease: PaymentLease): Promise<boolean>
  /** Ends the lease, so that any request with the token can continue the payment. */
  release(payment: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'>): Promise<void>
  /**
   * Counts a call whose client disconnected after the provider was called. `given-back`: released; `delivered`: still owned,
   * to be captured and consumed, and taken over by no other.
   */
  leave(payment: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'>): Promise<LeftCall>
  /** Takes over payments that are overdue and not captured; a few at a time. */
  takeOverdue(taker: { owner: string; leaseMs: number }): Promise<readonly OverduePayment[]>
  /** Deletes windows and payments without money that are long over; returns how many. */
  prune(): Promise<number>
  /** Lists captured payments. */
  listSettled(page: SettledPage): Promise<readonly SettledPayment[]>
  /** Records the payment provider's state of a payment, where it is ahead of the store's. */
  reconcile(found: FoundPayment): Promise<Reconciled>
  /** Claims the daily comparison of all payments, which one of all instances runs. */
  claimSweep(): Promise<boolean>
  /** Returns sums since a moment, in milliseconds since 1970; oldest day first. */
  report(span: { sinceMs: number }): Promise<readonly PaymentSum[]>
}

/** A payment in the payment provider's state. `released`: no money is held or taken, nor will be. */
export interface FoundPayment extends KnownPayment {
  readonly standing: 'open' | 'held' | 'captured' | 'released'
  readonly amountCents: number
  readonly currency: string
  readonly settlement: SettlementMode
}

/**
 * Result of a comparison. `agrees`: nothing to do. `noted`: its id was not known. `recovered`: it was given up here,
 * and the money is taken; `adopted`: it was not known here, and the money is taken. `to-release`: money is held for nothing.
 * `disagrees`: a person must investigate.
 */
export type Reconciled = 'agrees' | 'noted' | 'recovered' | 'adopted' | 'to-release' | 'disagrees'

/**
 * Book of a payment in reports by day. `open`: not settled yet, by the day on which it will be; `delivered`: taken, and
 * answered; `owed`: taken, and not answered; `written-off`: held, and released without a reply; `none`: never held.
 */
export type PaymentBook = 'open' | 'delivered' | 'owed' | 'written-off' | 'none'

/** Payments of a day (UTC) in the same state. */
export interface PaymentSum {
  /** The day's start, in milliseconds since 1970. */
  readonly dayMs: number
  readonly book: PaymentBook
  readonly payments: number
  readonly cents: number
}

/** Money to take for a challenge. */
export interface PaymentOrder {
  readonly challengeId: string
  readonly amountCents: number
  readonly currency: string
  /** The payer's token: a secret. */
  readonly token: string
  readonly settlement: SettlementMode
}

/** The payment provider's response to an order. `refused`: no money is held or taken, nor will be. */
export type Authorization =
  | { readonly kind: 'authorized' | 'captured'; readonly reference: string }
  | { readonly kind: 'refused'; readonly reason: string }

/** A payment at the payment provider. */
export interface KnownPayment {
  readonly challengeId: string
  readonly reference: string
}

/**
 * Takes money. Every method is idempotent. Every method rejects with `service_unavailable` when the result is not known;
 * the caller may conclude nothing more.
 */
export interface PaymentGateway {
  /** Holds the money, or takes it, by the order's mode. */
  authorize(order: PaymentOrder): Promise<Authorization>
  /** Captures held money. `refused`: it is not taken, and cannot be any more. */
  capture(payment: KnownPayment): Promise<'captured' | 'refused'>
  /** Releases held money. `captured`: it was taken before. */
  cancel(payment: KnownPayment): Promise<'canceled' | 'captured'>
  /** Finds the payment of a challenge whose reference was never received; made since a moment, in milliseconds since 1970. */
  find(wanted: { challengeId: string; sinceMs: number }): Promise<KnownPayment | undefined>
  /** Lists all payments of this service that were made since then, newest first, with the moments of their creation. */
  list(span: { sinceMs: number }): AsyncIterable<FoundPayment & { readonly createdAtMs: number }>
}

/** Rest of a prepaid session. */
export interface SessionStanding {
  readonly sessionId: string
  readonly callsTotal: number
  readonly callsLeft: number
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** A paid session to open; idempotent. */
export interface SessionOpening {
  /** The challenge that paid for it. */
  readonly sessionId: string
  readonly tokenHash: string
  /** The payment provider's id of the payment. */
  readonly reference: string
  readonly calls: number
  readonly ttlMs: number
}

/** A call that is taken from a prepaid session, or the reason of a refusal. */
export type SessionCall =
  | { readonly kind: 'reserved'; readonly sessionId: string; readonly reference: string }
  | { readonly kind: 'refused'; readonly why: 'unknown' | 'expired' | 'exhausted' }

/** Keeps prepaid sessions, for all instances. Rejects with `service_unavailable` while the database does not answer. */
export interface SessionStore {
  open(opening: SessionOpening): Promise<SessionStanding>
  /** Reserves a call for the time of the lease; then it is given back unless it was committed. */
  reserve(call: { tokenHash: string; callId: string; leaseMs: number }): Promise<SessionCall>
  /** Uses the call up; `false` when it was given back before. */
  commit(callId: string): Promise<boolean>
  /** Gives a call back; a no-op after its commit. */
  release(callId: string): Promise<void>
  /**
   * Counts a call whose client disconnected after the provider was called, and gives it back or uses it up; a no-op after
   * its commit.
   */
  leave(callId: string): Promise<void>
  /** Gives back calls whose lease has ended; returns their number. */
  sweep(): Promise<number>
  standing(tokenHash: string): Promise<SessionStanding | undefined>
}

/** How money is taken: held first and captured when the answer is there, or charged at once. */
export type SettlementMode = 'manual' | 'automatic'

/**
 * Where a payment stands. Before there is one, its challenge is issued: signed, and of a window that the store knows.
 * `claimed`: a token was presented for it; `authorized`: the money is held; `captured`: taken; `consumed`: and the answer
 * is on its way. `failed`: the payment provider has refused; `expired`: nobody came back for it, and nothing is taken.
 */
export type PaymentState = 'claimed' | 'authorized' | 'captured' | 'consumed' | 'failed' | 'expired'

/** States from which a payment can go on. */
export type OpenPaymentState = Extract<PaymentState, 'claimed' | 'authorized' | 'captured'>

/** What is asked of the store when a token is presented for a challenge. */
export interface PaymentClaim {
  readonly challengeId: string
  /** In which the challenge was issued. */
  readonly windowId: string
  /** The challenge's end, in milliseconds since 1970 by the store's clock. */
  readonly expiresAtMs: number
  /** SHA-256 of the token, hexadecimal: another token cannot go on with the payment. */
  readonly tokenHash: string
  readonly amountCents: number
  readonly currency: string
  readonly settlement: SettlementMode
  /** What is paid for: the route, and the model that is asked. */
  readonly route: string
  readonly model: string
  /** Whoever works on it, and for how long unless that is renewed. */
  readonly owner: string
  readonly leaseMs: number
}

/** A payment that this owner may go on with, and nobody else. */
export interface HeldPayment {
  readonly challengeId: string
  readonly owner: string
  /** Counts the owners; an earlier one can change nothing any more. */
  readonly fence: number
  readonly state: OpenPaymentState
  /** As it was begun, which is how it ends, whatever is configured by then. */
  readonly settlement: SettlementMode
  /** The payment provider's name of the payment, once it has one. */
  readonly reference: string | undefined
}

/** Why a challenge cannot be paid with a token, for good. */
export type ClaimRefusal = 'unknown' | 'expired' | 'consumed' | 'failed' | 'other-token'

/** What came of a claim. `busy`: somebody works on it with the same token, or its end is being sorted out. */
export type ClaimOutcome =
  | { readonly kind: 'held'; readonly payment: HeldPayment }
  | { readonly kind: 'busy' }
  | { readonly kind: 'refused'; readonly why: ClaimRefusal }

/** A payment whose time had run out at this moment, by the store's clock. */
export interface OverduePayment extends HeldPayment {
  readonly dueAtMs: number
}

/**
 * Calls that a client may leave after the provider was asked, of a challenge and of a session each, and have given back.
 * A provider bills for them; every further one counts as delivered.
 */
export const FREE_LEFT_CALLS = 2

/** What becomes of a call that was left after the provider was asked. */
export type LeftCall = 'given-back' | 'delivered'

/** A step of a payment that its owner takes. */
export interface PaymentMove extends Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'> {
  readonly from: OpenPaymentState
  readonly to: Exclude<PaymentState, 'claimed'>
  /** When the money is held or taken. */
  readonly reference?: string | undefined
}

/** An owner of a payment, and for how long it goes on to be that. */
export interface PaymentLease extends Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'> {
  readonly leaseMs: number
}

/** A payment that was captured, as everybody may see it. */
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

/** What to list, newest first. */
export interface SettledPage {
  readonly before?: Pick<SettledPayment, 'capturedAtMs' | 'challengeId'> | undefined
  readonly limit: number
}

/**
 * Keeps payments, for all instances together. Every step is one compare-and-set: of two that take it, one does. Every
 * method rejects with `service_unavailable` while the database does not answer; the step may then have been taken.
 */
export interface PaymentStore {
  /** Records that challenges are issued from now on, for a minute; gives the store's time, in milliseconds since 1970. */
  openWindow(windowId: string): Promise<number>
  claim(claim: PaymentClaim): Promise<ClaimOutcome>
  /** Takes a step; `false` when the payment is another owner's, or not in that state any more. */
  move(move: PaymentMove): Promise<boolean>
  /** Goes on to own it; `false` when it is another's, or has ended. */
  renew(lease: PaymentLease): Promise<boolean>
  /** Lets whoever has the token go on with it. */
  release(payment: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'>): Promise<void>
  /**
   * Counts a call that its client left after the provider was asked. `given-back`: released; `delivered`: still owned, to
   * be captured and consumed, and taken up by no other.
   */
  leave(payment: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'>): Promise<LeftCall>
  /** Takes over payments whose time has run out before they were captured; a few at a time. */
  takeOverdue(taker: { owner: string; leaseMs: number }): Promise<readonly OverduePayment[]>
  /** Forgets windows and payments without money that are long over; returns how many. */
  prune(): Promise<number>
  /** Captured payments. */
  listSettled(page: SettledPage): Promise<readonly SettledPayment[]>
  /** Writes down what the payment provider has, where that says more than is known here. */
  reconcile(found: FoundPayment): Promise<Reconciled>
  /** Whether it is this caller who is to compare all there is: one of all, once a day. */
  claimSweep(): Promise<boolean>
  /** Sums since a moment, in milliseconds since 1970; oldest day first. */
  report(span: { sinceMs: number }): Promise<readonly PaymentSum[]>
}

/** A payment as the payment provider has it. `released`: no money is held or taken, nor will be. */
export interface FoundPayment extends KnownPayment {
  readonly standing: 'open' | 'held' | 'captured' | 'released'
  readonly amountCents: number
  readonly currency: string
  readonly settlement: SettlementMode
}

/**
 * What came of a comparison. `agrees`: nothing to do. `noted`: its name was not known. `recovered`: it was given up here,
 * and the money is taken; `adopted`: it was not known here, and the money is taken. `to-release`: money is held for nothing.
 * `disagrees`: a person has to look.
 */
export type Reconciled = 'agrees' | 'noted' | 'recovered' | 'adopted' | 'to-release' | 'disagrees'

/**
 * What is told of money by day. `open`: not settled yet, by the day on which it will be; `delivered`: taken, and answered;
 * `owed`: taken, and not answered; `written-off`: held, and let go without an answer; `none`: nothing was ever held.
 */
export type PaymentBook = 'open' | 'delivered' | 'owed' | 'written-off' | 'none'

/** Payments of a day (UTC) that stand alike. */
export interface PaymentSum {
  /** The day's begin, in milliseconds since 1970. */
  readonly dayMs: number
  readonly book: PaymentBook
  readonly payments: number
  readonly cents: number
}

/** Money that is to be taken for a challenge. */
export interface PaymentOrder {
  readonly challengeId: string
  readonly amountCents: number
  readonly currency: string
  /** The payer's: a secret. */
  readonly token: string
  readonly settlement: SettlementMode
}

/** What the payment provider says to an order. `refused`: no money is held or taken, nor will be. */
export type Authorization =
  | { readonly kind: 'authorized' | 'captured'; readonly reference: string }
  | { readonly kind: 'refused'; readonly reason: string }

/** A payment at the payment provider. */
export interface KnownPayment {
  readonly challengeId: string
  readonly reference: string
}

/**
 * Takes money. Every call may be made again: it happens once. Every method rejects with `service_unavailable` when it is
 * not known what has happened; then nothing may be concluded but that.
 */
export interface PaymentGateway {
  /** Holds the money, or takes it, as the order says. */
  authorize(order: PaymentOrder): Promise<Authorization>
  /** Takes what is held. `refused`: it is not taken, and cannot be any more. */
  capture(payment: KnownPayment): Promise<'captured' | 'refused'>
  /** Lets go of what is held. `captured`: it was taken before. */
  cancel(payment: KnownPayment): Promise<'canceled' | 'captured'>
  /** The payment of a challenge whose reference was never learnt; made since a moment, in milliseconds since 1970. */
  find(wanted: { challengeId: string; sinceMs: number }): Promise<KnownPayment | undefined>
  /** All payments of this service that were made since then, newest first, with the moments at which they were made. */
  list(span: { sinceMs: number }): AsyncIterable<FoundPayment & { readonly createdAtMs: number }>
}

/** What is left of a session. */
export interface SessionStanding {
  readonly sessionId: string
  readonly callsTotal: number
  readonly callsLeft: number
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** A session that was paid for; made again it stays as it is. */
export interface SessionOpening {
  /** The challenge that it was paid with. */
  readonly sessionId: string
  readonly tokenHash: string
  /** The payment provider's name of the payment. */
  readonly reference: string
  readonly calls: number
  readonly ttlMs: number
}

/** A call that is taken from a session, or why there is none. */
export type SessionCall =
  | { readonly kind: 'reserved'; readonly sessionId: string; readonly reference: string }
  | { readonly kind: 'refused'; readonly why: 'unknown' | 'expired' | 'exhausted' }

/** Keeps sessions, for all instances together. Rejects with `service_unavailable` while the database does not answer. */
export interface SessionStore {
  open(opening: SessionOpening): Promise<SessionStanding>
  /** Takes a call out, for as long as the lease lasts; then it is given back unless it was committed. */
  reserve(call: { tokenHash: string; callId: string; leaseMs: number }): Promise<SessionCall>
  /** The call is used up; `false` when it was given back before. */
  commit(callId: string): Promise<boolean>
  /** Gives a call back; harmless after its commit. */
  release(callId: string): Promise<void>
  /** Counts a call that its client left after the provider was asked, and gives it back or uses it up; harmless after its commit. */
  leave(callId: string): Promise<void>
  /** Gives back calls whose lease has ended; returns how many. */
  sweep(): Promise<number>
  standing(tokenHash: string): Promise<SessionStanding | undefined>
}

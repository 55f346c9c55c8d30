import type { PaymentBook, PaymentState, PaymentSum, SettlementMode } from './payments.ts'

/** A payment as the operator sees it. */
export interface ListedPayment {
  readonly challengeId: string
  readonly state: PaymentState
  /** State of its money. */
  readonly book: PaymentBook
  /** Moment of capture or end; of an open payment, its coming end. In milliseconds since 1970. */
  readonly atMs: number
  readonly amountCents: number
  readonly currency: string
  readonly settlement: SettlementMode
  readonly route: string
  readonly model: string
  /** The payment provider's id of it, once it has one. */
  readonly reference: string | null
  /** Callers whose requests it has paid for: the scopes of its token, and of its session's. */
  readonly scopes: readonly string[]
  /** The calls of a prepaid session; `null`: it has paid for one call. */
  readonly session: { readonly callsTotal: number; readonly callsLeft: number; readonly expiresAtMs: number } | null
}

/** A page of payments. */
export interface PaymentPage {
  /** The last payment of the page before. */
  readonly after?: Pick<ListedPayment, 'atMs' | 'challengeId'> | undefined
  /** At most 500. */
  readonly limit: number
  /** Part of the challenge, the payment's id, the model or the route, in any case. */
  readonly text?: string | undefined
  readonly book?: PaymentBook | undefined
}

/** Payments of agents, for the operator. Rejects with `service_unavailable`. */
export interface PaymentBooks {
  /** Lists payments, newest first. */
  list(page: PaymentPage): Promise<readonly ListedPayment[]>
  find(challengeId: string): Promise<ListedPayment | undefined>
  /** Returns sums by day and book since a moment, in milliseconds since 1970; oldest day first. */
  report(span: { sinceMs: number }): Promise<readonly PaymentSum[]>
}

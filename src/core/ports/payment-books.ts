import type { PaymentBook, PaymentState, PaymentSum, SettlementMode } from './payments.ts'

/** A payment as the operator sees it. */
export interface ListedPayment {
  readonly challengeId: string
  readonly state: PaymentState
  /** What became of its money. */
  readonly book: PaymentBook
  /** When it was captured or ended; of what is open, when it will end. In milliseconds since 1970. */
  readonly atMs: number
  readonly amountCents: number
  readonly currency: string
  readonly settlement: SettlementMode
  readonly route: string
  readonly model: string
  /** The payment provider's name of it, once it has one. */
  readonly reference: string | null
  /** Whose requests it has paid for: the scopes of its token, and of its session's. */
  readonly scopes: readonly string[]
  /** The calls that were bought at once; `null`: it has paid for one. */
  readonly session: { readonly callsTotal: number; readonly callsLeft: number; readonly expiresAtMs: number } | null
}

/** Which payments to list. */
export interface PaymentPage {
  /** The last one that was seen. */
  readonly after?: Pick<ListedPayment, 'atMs' | 'challengeId'> | undefined
  /** At most 500. */
  readonly limit: number
  /** Stands in the challenge, the payment's name, the model or the route, in capitals or not. */
  readonly text?: string | undefined
  readonly book?: PaymentBook | undefined
}

/** What agents have paid, for who operates the gateway. Rejects with `service_unavailable`. */
export interface PaymentBooks {
  /** Newest first. */
  list(page: PaymentPage): Promise<readonly ListedPayment[]>
  find(challengeId: string): Promise<ListedPayment | undefined>
  /** Sums by day and book since a moment, in milliseconds since 1970; oldest day first. */
  report(span: { sinceMs: number }): Promise<readonly PaymentSum[]>
}

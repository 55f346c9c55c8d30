/** What changed an account's credits. */
export interface CreditEntry {
  /** 1, 2, 3, … without a gap in each account. */
  readonly seq: number
  /** A noun: `calls`, `grant`, `recharge`, `reversal`. */
  readonly kind: string
  /** Positive: given. Negative: taken. */
  readonly credits: number
  /** The account's credits with this entry. */
  readonly creditsAfter: number
  /** What it is entered for, e.g. `invoice:in_1`. */
  readonly about: string
  /** In milliseconds since 1970. */
  readonly atMs: number
}

/** Which entries of an account to list. */
export interface CreditPage {
  readonly accountId: string
  /** The last one that was seen. */
  readonly after?: number | undefined
  /** At most 500. */
  readonly limit: number
}

/** Entries of an account, newest first. Rejects with `service_unavailable`. */
export type ListCredits = (page: CreditPage) => Promise<readonly CreditEntry[]>

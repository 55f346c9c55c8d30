/** A change of an account's credits. */
export interface CreditEntry {
  /** 1, 2, 3, … without a gap in each account. */
  readonly seq: number
  /** A noun: `calls`, `grant`, `recharge`, `reversal`. */
  readonly kind: string
  /** Positive: given. Negative: taken. */
  readonly credits: number
  /** The account's credits after this entry. */
  readonly creditsAfter: number
  /** Payment or hour of the entry, e.g. `invoice:in_1`. */
  readonly about: string
  /** In milliseconds since 1970. */
  readonly atMs: number
}

/** A page of an account's entries. */
export interface CreditPage {
  readonly accountId: string
  /** `seq` of the last entry of the page before. */
  readonly after?: number | undefined
  /** At most 500. */
  readonly limit: number
}

/** Lists entries of an account, newest first. Rejects with `service_unavailable`. */
export type ListCredits = (page: CreditPage) => Promise<readonly CreditEntry[]>

/** The tables of credits and calls. */
export interface LedgerTables {
  ledger_entry: LedgerEntryTable
  call_window: CallWindowTable
  credit_hold: CreditHoldTable
  overage_hour: OverageHourTable
}

/** What changed an account's credits. The database refuses to change or delete a row. */
export interface LedgerEntryTable {
  account_id: string
  /** 1, 2, 3, … without a gap in each account. */
  seq: number
  /** A noun: `calls`, `grant`, `recharge`, `refund`. */
  kind: string
  /** Positive: given. Negative: taken. Never 0. */
  credits: number
  /** The account's credits with this entry. */
  posted_after_credits: number
  /** What is entered once only, e.g. `invoice:in_1`, `hold:req_1`. */
  idem: string
  created_at_ms: number
}

/** Calls of an account in one period of its plan. */
export interface CallWindowTable {
  account_id: string
  /** `m:2026-11`, a UTC month; `p:1763683200000`, a paid period by its begin. */
  window_id: string
  /** Answered. */
  settled_calls: number
  /** The sum of the open holds in this window. */
  held_calls: number
}

/** `expired`: nobody was heard of any more, and all is free again; what was used may still be told. */
export type CreditHoldState = 'open' | 'posted' | 'voided' | 'expired'

/** Calls of one period that are held until they are answered, with the credits that they cost. */
export interface CreditHoldTable {
  id: string
  account_id: string
  window_id: string
  state: CreditHoldState
  /** The state before the last change. */
  previous_state: CreditHoldState
  calls: number
  /** What each of them costs; 0: the plan includes them. */
  call_credits: number
  /** Of the calls, those that were answered; 0 until that is told. */
  used_calls: number
  /** Taken for them from the account. */
  charged_credits: number
  /** Owed for them, and not there when a hold that had expired was told. */
  shortfall_credits: number
  /** Open: the moment its lease ends. Otherwise: the moment from which the row may be deleted. */
  due_at_ms: number
}

/** Calls beyond what a plan includes, by the UTC hour in which they were answered: what is reported as metered. */
export interface OverageHourTable {
  account_id: string
  /** The hour's begin. */
  hour_ms: number
  calls: number
  charged_credits: number
  shortfall_credits: number
}

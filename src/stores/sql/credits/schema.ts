import { counts, texts } from '../engine/columns.ts'

/** The tables of credits and calls. */
export interface LedgerTables {
  ledger_entry: LedgerEntryTable
  call_window: CallWindowTable
  credit_hold: CreditHoldTable
  overage_hour: OverageHourTable
}

/** A change of an account's credits. The database refuses to change or delete a row. */
export interface LedgerEntryTable {
  account_id: string
  /** 1, 2, 3, … without gaps in each account. */
  seq: number
  /** A noun: `calls`, `grant`, `recharge`, `refund`. */
  kind: string
  /** Positive: granted. Negative: taken. Never 0. */
  credits: number
  /** The account's credits with this entry. */
  posted_after_credits: number
  /** Idempotency key, e.g. `invoice:in_1`, `hold:req_1`. */
  idem: string
  created_at_ms: number
}

/** Calls of an account in one period of its plan. */
export interface CallWindowTable {
  account_id: string
  /** `m:2026-11`, a UTC month; `p:1763683200000`, a paid period by its begin. */
  window_id: string
  /** Answered calls. */
  settled_calls: number
  /** The sum of the open holds in this window. */
  held_calls: number
}

/** `expired`: the lease ended, and everything is released; the used calls may still be reported. */
export type CreditHoldState = 'open' | 'posted' | 'voided' | 'expired'

/** Calls of one period held until they are answered, with the credits that they cost. */
export interface CreditHoldTable {
  id: string
  account_id: string
  window_id: string
  state: CreditHoldState
  /** The state before the last change. */
  previous_state: CreditHoldState
  calls: number
  /** Credits per call; 0: within the quota. */
  call_credits: number
  /** Answered calls among them; 0 until reported. */
  used_calls: number
  /** Credits charged for them. */
  charged_credits: number
  /** Credits owed for them that were not available when an expired hold was ended. */
  shortfall_credits: number
  /** Open: the moment its lease ends. Otherwise: the moment from which the row may be deleted. */
  due_at_ms: number
}

/** Calls beyond the quota, by the UTC hour in which they were answered: the metered ones. */
export interface OverageHourTable {
  account_id: string
  /** The hour's begin. */
  hour_ms: number
  calls: number
  charged_credits: number
  shortfall_credits: number
}

const isState = (name: string) => `${name} in ('open', 'posted', 'voided', 'expired')`

/** Creates the tables of credits and calls. */
export const LEDGER_TABLES_SQL = `
create table ledger_entry (
  ${texts('account_id', 'kind', 'idem')},
  ${counts('seq', 'posted_after_credits')},
  credits bigint not null check (credits <> 0),
  created_at_ms bigint not null,
  constraint ledger_entry_key primary key (account_id, seq),
  constraint ledger_entry_once unique (account_id, idem)
);
create table call_window (
  ${texts('account_id', 'window_id')},
  ${counts('settled_calls', 'held_calls')},
  constraint call_window_key primary key (account_id, window_id)
);
create table credit_hold (
  id text primary key not null,
  ${texts('account_id', 'window_id')},
  state text not null check (${isState('state')}),
  previous_state text not null check (${isState('previous_state')}),
  ${counts('calls', 'call_credits', 'used_calls', 'charged_credits', 'shortfall_credits', 'due_at_ms')},
  constraint credit_hold_used check (used_calls <= calls),
  constraint credit_hold_charged check (charged_credits + shortfall_credits = used_calls * call_credits)
);
create index credit_hold_due on credit_hold (state, due_at_ms);
create table overage_hour (
  account_id text not null,
  ${counts('hour_ms', 'calls', 'charged_credits', 'shortfall_credits')},
  constraint overage_hour_key primary key (account_id, hour_ms)
);
create index overage_hour_by_time on overage_hour (hour_ms);
`

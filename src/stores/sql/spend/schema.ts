import { counts, texts } from '../engine/columns.ts'

/** The tables of caps and budgets. */
export interface SpendTables {
  spend_window: SpendWindowTable
  spend_hold: SpendHoldTable
}

/**
 * A scope's spend in a day or month or on a budget, and the holds of in-flight requests: one row for each. Budgets of turns
 * and tokens have those in place of nano-USD.
 */
export interface SpendWindowTable {
  scope: string
  /** `d:2026-11-21`, `m:2026-11`, `c:conv_…`. */
  window_id: string
  settled_nano_usd: number
  /** The sum of the open holds in this window. */
  held_nano_usd: number
  /** Limit of the last hold. */
  limit_nano_usd: number
  /** Amount by which the owner of a budget has raised its limit. */
  raised_nano_usd: number
  begun_at_ms: number
  /** Day of a budget's last use, in days since 1970; `null` for a window of the calendar. */
  used_day: number | null
}

/** `expired`: the sweeper has counted it at its full amount; its final cost may still be reported. */
export type HoldState = 'open' | 'expired' | 'settled'

/** Money held for one request, in all windows of its admission. */
export interface SpendHoldTable {
  id: string
  state: HoldState
  /** The state before the last change: a settled hold that was `expired` before has been corrected. */
  previous_state: HoldState
  amount_nano_usd: number
  /** The amount before the last change. */
  previous_amount_nano_usd: number
  /** Its final cost; `null` until reported. */
  cost_nano_usd: number | null
  /** JSON of the windows with their limits, in lock order. */
  windows: string
  /** Open: the moment its lease ends. Otherwise: the moment from which the row may be deleted. */
  due_at_ms: number
}

const isState = (name: string) => `${name} in ('open', 'expired', 'settled')`

/** Creates the tables of caps and budgets. */
export const SPEND_TABLES_SQL = `
create table spend_window (
  ${texts('scope', 'window_id')},
  ${counts('settled_nano_usd', 'held_nano_usd')},
  limit_nano_usd bigint default 0 not null,
  raised_nano_usd bigint default 0 not null,
  begun_at_ms bigint default 0 not null,
  used_day bigint,
  constraint spend_window_key primary key (scope, window_id)
);
-- for deleting old windows and unused budgets without a full scan
create index spend_window_by_window on spend_window (window_id);
create index spend_window_by_use on spend_window (used_day);
create table spend_hold (
  id text primary key not null,
  state text not null check (${isState('state')}),
  previous_state text not null check (${isState('previous_state')}),
  ${counts('amount_nano_usd', 'previous_amount_nano_usd')},
  cost_nano_usd bigint,
  windows text not null,
  due_at_ms bigint not null
);
create index spend_hold_due on spend_hold (state, due_at_ms);
`

import type { AccountTables } from './accounts/schema.ts'
import type { AlertTables } from './alerts/schema.ts'
import type { BillingTables } from './billing/schema.ts'
import type { LedgerTables } from './credits/schema.ts'
import type { PaymentTables } from './payments/schema.ts'
import type { ReceiptTables } from './receipts/schema.ts'
import type { ResponseTables } from './responses/schema.ts'
import type { SettingTables } from './settings/schema.ts'
import type { SignInTables } from './sign-in/schema.ts'

import type { TelemetryTables } from './telemetry/schema.ts'

/**
 * The tables. Both engines have the same, in their common subset of SQL: text, `bigint` for money and times,
 * JSON as text, CHECK, `on conflict`, `returning`. Every column's name ends in its unit.
 */

/** All tables. With SQLite those of telemetry are in a file of their own. */
export interface Database
  extends TelemetryTables,
    AccountTables,
    AlertTables,
    LedgerTables,
    BillingTables,
    PaymentTables,
    ReceiptTables,
    ResponseTables,
    SettingTables,
    SignInTables {
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

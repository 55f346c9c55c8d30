import type { AccountTables } from './accounts/schema.ts'
import type { AlertTables } from './alerts/schema.ts'
import type { BillingTables } from './billing/schema.ts'
import type { LedgerTables } from './credits/schema.ts'
import type { PaymentTables } from './payments/schema.ts'
import type { ReceiptTables } from './receipts/schema.ts'
import type { ResponseTables } from './responses/schema.ts'
import type { SettingTables } from './settings/schema.ts'
import type { SignInTables } from './sign-in/schema.ts'
import type { SpendTables } from './spend/schema.ts'
import type { TelemetryTables } from './telemetry/schema.ts'

/*
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
    SignInTables,
    SpendTables {}

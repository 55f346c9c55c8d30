import { counts, texts } from '../engine/columns.ts'

/** The tables of the payment provider's state of accounts. */
export interface BillingTables {
  billing_sequence: BillingSequenceTable
  billing_customer: BillingCustomerTable
  billing_subscription: BillingSubscriptionTable
  billing_payment: BillingPaymentTable
  billing_proration: BillingProrationTable
  billing_event: BillingEventTable
  billing_task: BillingTaskTable
  auto_recharge: AutoRechargeTable
  recharge: RechargeTable
  meter_report: MeterReportTable
}

/** One row, from which tickets are taken: see `takeTicket`. */
export interface BillingSequenceTable {
  id: string
  last_ticket: number
}

/** The customer of an account at the payment provider. */
export interface BillingCustomerTable {
  account_id: string
  /** `null`: it was deleted there. */
  customer_id: string | null
  /** Counts deletions, so that a new customer is created under a new idempotency key. */
  generation: number
}

/** A subscription as it was last fetched. */
export interface BillingSubscriptionTable {
  id: string
  account_id: string
  /** The provider's status: `active`, `past_due`, `canceled`, … */
  status: string
  tier: 'pro' | 'team'
  period_start_ms: number
  period_end_ms: number
  /** Ticket of the fetch; one with an earlier ticket no longer counts. */
  applied_ticket: number
}

/** A payment, and the credits granted for it. */
export interface BillingPaymentTable {
  /** `invoice:<id>`, `recharge:<id>`: also the idempotency key of the ledger entry. */
  id: string
  account_id: string
  credits: number
  /** Credits to take back for refunds and disputes, of which `taken_credits` could be taken. */
  due_credits: number
  taken_credits: number
  /** 1 once it has been disputed, permanently. */
  disputed: number
  /** Ticket of the last fetch of its refunds and disputes; 0: none yet. */
  applied_ticket: number
}

/** The prorations of all paid invoices of an account. */
export interface BillingProrationTable {
  account_id: string
  /** Credits charged for, minus those returned; may be negative. */
  net_credits: number
  /** Credits taken back for a negative sum. */
  taken_credits: number
}

/** Handled events. */
export interface BillingEventTable {
  id: string
  created_at_ms: number
}

/** A periodic task that one of all instances runs. */
export interface BillingTaskTable {
  name: string
  due_at_ms: number
}

/** An account owner's auto-recharge settings. */
export interface AutoRechargeTable {
  account_id: string
  enabled: number
  threshold_credits: number
  amount_credits: number
  /** The most credits that are bought this way in a UTC month. */
  monthly_limit_credits: number
  /** Reason why the gateway disabled it; `null`: it did not. */
  disabled_reason: string | null
}

/** `failed`: the provider refused it. A payment that succeeds after all becomes `succeeded`: the provider's state is final. */
export type RechargeState = 'pending' | 'succeeded' | 'failed'

/** One recharge; at most one per account is pending. */
export interface RechargeTable {
  id: string
  account_id: string
  credits: number
  state: RechargeState
  /** Fixed before the first call, so that every retry is the same request. */
  customer_id: string | null
  payment_method_id: string | null
  reason: string | null
  attempts: number
  /** Time of the next try. */
  next_at_ms: number
  created_at_ms: number
}

/** Calls beyond the quota in one hour, to be reported to the provider's meter. */
export interface MeterReportTable {
  /** The meter's identifier, `ov:<account>:<hour>`. */
  id: string
  account_id: string
  hour_ms: number
  /** Above one when calls of an hour were counted after it had been reported. */
  part: number
  calls: number
  state: 'pending' | 'sent' | 'lost'
  attempts: number
  /** Time of the first try; `null`: none yet. */
  tried_at_ms: number | null
  next_at_ms: number
}

/** Creates the tables of billing. */
export const BILLING_TABLES_SQL = `
create table billing_sequence (
  id text primary key not null,
  ${counts('last_ticket')}
);
create table billing_customer (
  account_id text primary key not null,
  customer_id text unique,
  ${counts('generation')}
);
create table billing_subscription (
  id text primary key not null,
  ${texts('account_id', 'status')},
  tier text not null check (tier in ('pro', 'team')),
  ${counts('period_start_ms', 'period_end_ms', 'applied_ticket')}
);
create index billing_subscription_by_account on billing_subscription (account_id);
create table billing_payment (
  id text primary key not null,
  account_id text not null,
  ${counts('credits', 'due_credits', 'taken_credits', 'disputed', 'applied_ticket')},
  constraint billing_payment_due check (due_credits <= credits),
  constraint billing_payment_taken check (taken_credits <= due_credits)
);
create table billing_event (
  id text primary key not null,
  ${counts('created_at_ms')}
);
create index billing_event_by_time on billing_event (created_at_ms);
create table billing_task (
  name text primary key not null,
  ${counts('due_at_ms')}
);
create table billing_proration (
  account_id text primary key not null,
  net_credits bigint not null,
  ${counts('taken_credits')}
);
create table auto_recharge (
  account_id text primary key not null,
  ${counts('enabled', 'threshold_credits', 'amount_credits', 'monthly_limit_credits')},
  disabled_reason text
);
create index auto_recharge_enabled on auto_recharge (account_id) where enabled = 1;
create table recharge (
  id text primary key not null,
  account_id text not null,
  state text not null check (state in ('pending', 'succeeded', 'failed')),
  ${counts('credits', 'attempts', 'next_at_ms', 'created_at_ms')},
  customer_id text,
  payment_method_id text,
  reason text
);
create unique index recharge_pending on recharge (account_id) where state = 'pending';
create index recharge_by_account on recharge (account_id, created_at_ms);
create table meter_report (
  id text primary key not null,
  account_id text not null,
  state text not null check (state in ('pending', 'sent', 'lost')),
  ${counts('hour_ms', 'part', 'calls', 'attempts', 'next_at_ms')},
  tried_at_ms bigint,
  constraint meter_report_part unique (account_id, hour_ms, part)
);
create index meter_report_due on meter_report (state, next_at_ms);
`

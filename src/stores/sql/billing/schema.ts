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

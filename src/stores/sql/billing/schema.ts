/** The tables of what the payment provider knows about accounts. */
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

/** Who an account is at the payment provider. */
export interface BillingCustomerTable {
  account_id: string
  /** `null`: it was deleted there. */
  customer_id: string | null
  /** Counts deletions, so that a new customer is made under a new idempotency key. */
  generation: number
}

/** A subscription as it was last fetched. */
export interface BillingSubscriptionTable {
  id: string
  account_id: string
  /** The provider's word: `active`, `past_due`, `canceled`, … */
  status: string
  tier: 'pro' | 'team'
  period_start_ms: number
  period_end_ms: number
  /** Of the fetch; one with an earlier ticket no longer counts. */
  applied_ticket: number
}

/** Money that came in, and the credits that were given for it. */
export interface BillingPaymentTable {
  /** `invoice:<id>`, `recharge:<id>`: also the idempotency key of the ledger entry. */
  id: string
  account_id: string
  credits: number
  /** Credits that refunds and disputes call for, of which `taken_credits` could be taken. */
  due_credits: number
  taken_credits: number
  /** 1 once it has been disputed, for ever. */
  disputed: number
  /** Of the last fetch of its refunds and disputes; 0: none yet. */
  applied_ticket: number
}

/** The prorations of all paid invoices of an account. */
export interface BillingProrationTable {
  account_id: string
  /** What they have charged for, less what they have returned money for; may be negative. */
  net_credits: number
  /** Credits that were taken back for a negative sum. */
  taken_credits: number
}

/** Events that were handled. */
export interface BillingEventTable {
  id: string
  created_at_ms: number
}

/** Work that one of all instances does now and then. */
export interface BillingTaskTable {
  name: string
  due_at_ms: number
}

/** What an account's owner has set about recharging by itself. */
export interface AutoRechargeTable {
  account_id: string
  enabled: number
  threshold_credits: number
  amount_credits: number
  /** The most credits that are bought this way in a UTC month. */
  monthly_limit_credits: number
  /** Why it was switched off by the gateway; `null`: it was not. */
  disabled_reason: string | null
}

/** `failed`: the provider has refused it. A payment that succeeds after all is `succeeded`: money is the truth. */
export type RechargeState = 'pending' | 'succeeded' | 'failed'

/** One recharge; at most one of an account is pending. */
export interface RechargeTable {
  id: string
  account_id: string
  credits: number
  state: RechargeState
  /** Fixed before the first call, so that every repetition is the same request. */
  customer_id: string | null
  payment_method_id: string | null
  reason: string | null
  attempts: number
  /** When somebody may try again, if nothing is heard. */
  next_at_ms: number
  created_at_ms: number
}

/** Calls beyond a plan in one hour, to be reported to the provider's meter. */
export interface MeterReportTable {
  /** The meter's identifier, `ov:<account>:<hour>`. */
  id: string
  account_id: string
  hour_ms: number
  /** More than one when calls of an hour were counted after it had been reported. */
  part: number
  calls: number
  state: 'pending' | 'sent' | 'lost'
  attempts: number
  /** Of the first attempt; `null`: none yet. */
  tried_at_ms: number | null
  next_at_ms: number
}

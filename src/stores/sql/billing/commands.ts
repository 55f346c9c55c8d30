import { belowThreshold, setAutoRecharge } from './auto-recharge.ts'
import { findAccount, forgetCustomer, putCustomer, readBalance, readCustomer } from './customers.ts'
import { claimTask, hasSeenEvent, pruneEvents, takeTicket } from './fetches.ts'
import { collectMeterReports, endMeterReport, takeMeterReports } from './meter.ts'
import { applyPayment, applyReversal } from './payments.ts'
import { claimRecharge, endRecharge, fixRecharge, takeStaleRecharges } from './recharges.ts'
import { applySubscription, liveSubscriptions } from './subscriptions.ts'

/** Billing's commands. */
export const billingCommands = {
  'billing.balance': readBalance,
  'billing.ticket': takeTicket,
  'billing.seen': hasSeenEvent,
  'billing.customer': readCustomer,
  'billing.put-customer': putCustomer,
  'billing.account-of': findAccount,
  'billing.forget-customer': forgetCustomer,
  'billing.live-subscriptions': liveSubscriptions,
  'billing.apply-subscription': applySubscription,
  'billing.apply-payment': applyPayment,
  'billing.apply-reversal': applyReversal,
  'billing.set-auto-recharge': setAutoRecharge,
  'billing.below-threshold': belowThreshold,
  'billing.claim-recharge': claimRecharge,
  'billing.take-stale-recharges': takeStaleRecharges,
  'billing.fix-recharge': fixRecharge,
  'billing.end-recharge': endRecharge,
  'billing.collect-meter': collectMeterReports,
  'billing.take-meter': takeMeterReports,
  'billing.end-meter': endMeterReport,
  'billing.claim-task': claimTask,
  'billing.prune-events': pruneEvents,
}

/** Commands of one statement. */
export const singleBillingStatements = [
  'billing.ticket',
  'billing.seen',
  'billing.customer',
  'billing.account-of',
  'billing.live-subscriptions',
  'billing.below-threshold',
  'billing.fix-recharge',
  'billing.end-meter',
  'billing.claim-task',
  'billing.prune-events',
] as const satisfies (keyof typeof billingCommands)[]

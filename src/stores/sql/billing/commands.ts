import { belowThreshold, setAutoRecharge } from './auto-recharge.ts'
import { findAccount, forgetCustomer, putCustomer, readBalance, readCustomer } from './customers.ts'
import { claimTask, hasSeenEvent, pruneEvents, takeTicket } from './fetches.ts'
import { collectMeterReports, endMeterReport, takeMeterReports } from './meter.ts'
import { applyPayment, applyReversal } from './payments.ts'
import { claimRecharge, endRecharge, fixRecharge, takeStaleRecharges } from './recharges.ts'
import { applySubscription, liveSubscriptions } from './subscriptions.ts'

/** Billing's commands of several statements. */
export const billingCommands = {
  'billing.balance': readBalance,
  'billing.put-customer': putCustomer,
  'billing.forget-customer': forgetCustomer,
  'billing.apply-subscription': applySubscription,
  'billing.apply-payment': applyPayment,
  'billing.apply-reversal': applyReversal,
  'billing.set-auto-recharge': setAutoRecharge,
  'billing.claim-recharge': claimRecharge,
  'billing.take-stale-recharges': takeStaleRecharges,
  'billing.end-recharge': endRecharge,
  'billing.collect-meter': collectMeterReports,
  'billing.take-meter': takeMeterReports,
}

/** Billing's commands of one statement. */
export const singleBillingCommands = {
  'billing.ticket': takeTicket,
  'billing.seen': hasSeenEvent,
  'billing.customer': readCustomer,
  'billing.account-of': findAccount,
  'billing.live-subscriptions': liveSubscriptions,
  'billing.below-threshold': belowThreshold,
  'billing.fix-recharge': fixRecharge,
  'billing.end-meter': endMeterReport,
  'billing.claim-task': claimTask,
  'billing.prune-events': pruneEvents,
}

import { randomUUID } from 'node:crypto'
import type { BillingStore } from '../../../core/ports/billing.ts'
import type { Clock } from '../../../core/ports/clock.ts'
import type { SqlStore } from '../store.ts'

/** Creates billing's store in the database. */
export function createBillingStore(store: Pick<SqlStore, 'run'>, clock: Clock): BillingStore {
  return {
    balance: (accountId) => store.run('billing.balance', accountId),
    takeTicket: () => store.run('billing.ticket', null),
    hasSeen: (eventId) => store.run('billing.seen', eventId),
    customer: (accountId) => store.run('billing.customer', accountId),
    putCustomer: (customer) => store.run('billing.put-customer', customer),
    accountOf: (customerId) => store.run('billing.account-of', customerId),
    forgetCustomer: (customerId, eventId) => store.run('billing.forget-customer', { customerId, eventId }),
    liveSubscriptions: (accountId) => store.run('billing.live-subscriptions', accountId),
    applySubscription: (subscription, fetch) => store.run('billing.apply-subscription', { subscription, fetch }),
    applyPayment: (payment, eventId) => store.run('billing.apply-payment', { payment, eventId }),
    applyReversal: (reversal, fetch) => store.run('billing.apply-reversal', { reversal, fetch }),
    setAutoRecharge: (accountId, settings) =>
      store.run('billing.set-auto-recharge', { accountId, settings, noteId: randomUUID() }),
    belowThreshold: () => store.run('billing.below-threshold', null),
    claimRecharge: (claim) =>
      store.run('billing.claim-recharge', { ...claim, monthStartMs: monthStartOf(clock.nowMs()) }),
    takeStaleRecharges: () => store.run('billing.take-stale-recharges', null),
    fixRecharge: (id, means) => store.run('billing.fix-recharge', { id, ...means }),
    endRecharge: (end, eventId) => store.run('billing.end-recharge', { end, eventId }),
    collectMeterReports: () => store.run('billing.collect-meter', null),
    takeMeterReports: () => store.run('billing.take-meter', null),
    endMeterReport: (id, state) => store.run('billing.end-meter', { id, state }),
    claimTask: (name, everyMs) => store.run('billing.claim-task', { name, everyMs }),
    pruneEvents: () => store.run('billing.prune-events', null),
  }
}

/** Returns the begin of the UTC month. */
function monthStartOf(nowMs: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
}

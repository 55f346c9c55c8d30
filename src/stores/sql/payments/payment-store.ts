import type { PaymentStore } from '../../../core/ports/payments.ts'
import type { SqlStore } from '../store.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Creates the store of payments in the database. */
export function createPaymentStore(store: Pick<SqlStore, 'run'>): PaymentStore {
  return {
    openWindow: (windowId) => store.run('payments.open-window', { windowId }),
    claim: (claim) => store.run('payments.claim', claim),
    move: (move) => store.run('payments.move', move),
    renew: (lease) => store.run('payments.renew', lease),
    release: (payment) => store.run('payments.release', payment),
    leave: (payment) => store.run('payments.leave', payment),
    takeOverdue: (taker) => store.run('payments.take-overdue', taker),
    prune: () => store.run('payments.prune', undefined),
    listSettled: (page) => store.run('payments.list-settled', page),
    reconcile: (found) => store.run('payments.reconcile', found),
    claimSweep: () => store.run('billing.claim-task', { name: 'agent-payments', everyMs: DAY_MS }),
    report: (span) => store.run('payments.report', span),
  }
}

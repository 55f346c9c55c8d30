import type { PaymentBooks } from '../../../core/ports/payment-books.ts'
import type { SqlStore } from '../store.ts'

/** Creates a view of the payments in the database. */
export function createPaymentBooks(store: Pick<SqlStore, 'run'>): PaymentBooks {
  return {
    list: (page) => store.run('payments.list', page),
    async find(challengeId) {
      const [found] = await store.run('payments.list', { challengeId, limit: 1 })
      return found
    },
    report: (span) => store.run('payments.report', span),
  }
}

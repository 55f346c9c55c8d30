import { randomUUID } from 'node:crypto'
import type { Budgets } from '../../../core/ports/budgets.ts'
import type { SqlStore } from '../store.ts'

/** Creates the budgets in the database. */
export function createBudgets(store: Pick<SqlStore, 'run'>): Budgets {
  return {
    list: (scopes, conversation) => store.run('spend.budgets', { scopes, conversation }),
    raise: (raise) => store.run('spend.raise-budget', { ...raise, auditId: `aud_${randomUUID()}` }),
  }
}

import type { AlertStore } from '../../../core/ports/alerts.ts'
import type { SqlStore } from '../store.ts'

/** Creates the outbox of alerts in the database. */
export function createAlertStore(store: Pick<SqlStore, 'run'>): AlertStore {
  return {
    raise: (alerts) => store.run('alerts.raise', alerts),
    take: (order) => store.run('alerts.take', order),
    settle: (results) => store.run('alerts.settle', results),
    list: (page) => store.run('alerts.list', page),
    lease: (lease) => store.run('alerts.lease', lease),
    crossedCaps: (query) => store.run('alerts.crossed-caps', query),
    blockedAccess: (query) => store.run('alerts.blocked', query),
    prune: () => store.run('alerts.prune', {}),
  }
}

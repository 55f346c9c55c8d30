import type { KeyStore } from '../../../core/keys.ts'
import type { SqlStore } from '../store.ts'

/** Keeps keys in the database. */
export function createKeyStore(store: Pick<SqlStore, 'run'>): KeyStore {
  return {
    create: (key) => store.run('keys.create', key),
    list: (accountId) => store.run('keys.list', { accountId }),
    change: (change) => store.run('keys.change', change),
    revoke: (key) => store.run('keys.revoke', key),
    touch: (uses) => store.run('keys.touch', uses),
  }
}

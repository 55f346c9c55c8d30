import { GatewayError } from '../../../core/errors.ts'
import type { KeyStore } from '../../../core/ports/keys.ts'
import { WriteFailure } from '../engine/faults.ts'
import type { SqlStore } from '../store.ts'

/** Creates the store of keys in the database. */
export function createKeyStore(store: Pick<SqlStore, 'run'>): KeyStore {
  return {
    create: (key) => written(store.run('keys.create', key)),
    list: (accountId) => store.run('keys.list', { accountId }),
    change: (change) => written(store.run('keys.change', change)),
    rotate: (rotation) => written(store.run('keys.rotate', rotation)),
    revoke: (key) => written(store.run('keys.revoke', key)),
    touch: (uses) => store.run('keys.touch', uses),
  }
}

/** Converts a failed write to the specification's 500 (7.1); an unreachable database is 503 as everywhere. */
async function written<Output>(work: Promise<Output>): Promise<Output> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof WriteFailure)) throw error
    throw new GatewayError('internal_error', `Nothing was changed: ${error.message}`, { cause: error })
  }
}

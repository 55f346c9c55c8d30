import { randomUUID } from 'node:crypto'
import type { SettingStore } from '../../../core/ports/settings.ts'
import type { SqlStore } from '../store.ts'

/** Creates the store of settings in the database. */
export function createSettingStore(store: Pick<SqlStore, 'run'>): SettingStore {
  const auditId = () => `aud_${randomUUID()}`
  return {
    version: () => store.run('settings.version', undefined),
    read: () => store.run('settings.read', undefined),
    list: () => store.run('settings.list', undefined),
    change: (change) => store.run('settings.change', { ...change, auditId: auditId() }),
    changeKey: (change) => store.run('settings.change-key', { ...change, auditId: auditId() }),
  }
}

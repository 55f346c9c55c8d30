import type { SessionStore } from '../../../core/ports/payments.ts'
import type { SqlStore } from '../store.ts'

/** Creates the store of sessions in the database. */
export function createSessionStore(store: Pick<SqlStore, 'run'>): SessionStore {
  return {
    open: (opening) => store.run('sessions.open', opening),
    reserve: (call) => store.run('sessions.reserve', call),
    commit: (callId) => store.run('sessions.commit', { callId }),
    release: (callId) => store.run('sessions.release', { callId }),
    leave: (callId) => store.run('sessions.leave', { callId }),
    sweep: () => store.run('sessions.sweep', undefined),
    standing: (tokenHash) => store.run('sessions.read', { tokenHash }),
  }
}

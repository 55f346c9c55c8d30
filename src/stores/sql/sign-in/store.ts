import type { SignInStore } from '../../../core/ports/sign-in.ts'
import type { SqlStore } from '../store.ts'

/** Creates the store of sign-ins and sessions in the database. */
export function createSignInStore(store: Pick<SqlStore, 'run'>): SignInStore {
  return {
    begin: (attempt) => store.run('sign-in.begin', attempt),
    take: (hashes) => store.run('sign-in.take', hashes),
    complete: (person) => store.run('sign-in.complete', person),
    use: (hash) => store.run('sign-in.use', { hash }),
    list: (accountId) => store.run('sign-in.list', { accountId }),
    revoke: (session) => store.run('sign-in.revoke', session),
    revokeAll: (account) => store.run('sign-in.revoke-all', account),
    end: (session) => store.run('sign-in.end', session),
    beginDevice: (device) => store.run('sign-in.begin-device', device),
    findDevice: (userHash) => store.run('sign-in.find-device', { userHash }),
    decideDevice: (decision) => store.run('sign-in.decide-device', decision),
    redeemDevice: (device) => store.run('sign-in.redeem-device', device),
    refreshKey: (refresh) => store.run('sign-in.refresh-key', refresh),
    offerFirstOperator: (link) => store.run('sign-in.offer-operator', link),
    bindFirstOperator: (link) => store.run('sign-in.bind-operator', link),
  }
}

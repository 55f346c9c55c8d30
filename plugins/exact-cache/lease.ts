import { setTimeout as sleep } from 'node:timers/promises'
import type { CacheStore } from './store.ts'

/**
 * DESIGN — a lease on the provider call
 *
 *   instance A ── take: yes ──► calls the provider ─ renew, renew ──► stores ──► release
 *   instance B ── take: no, no, no, … ─────────────────────────────────────► it is stored
 *
 * Flights belong to one process. Where instances share a store, the leader of a flight takes the lease of its key
 * first, and waits while another instance has it. If that instance stores nothing, the next one gets the lease. Lease
 * and stored reply are queried together, on one connection: the holder of the lease sees what was stored before.
 *
 * Guarantees: while the store replies, one instance at a time calls the provider for a key. Limits: a crashed instance
 * is waited for until its lease expires; while the store fails, no instance waits.
 */
const LEASE_MS = 6000
const RENEWAL_MS = 2000
const FIRST_WAIT_MS = 10
const LONGEST_WAIT_MS = 200

/** Lease on the provider call for a key. */
export interface Lease {
  /** Reply that another instance has stored meanwhile, instead of a call. */
  readonly stored: Buffer | undefined
  /** Releases the lease. Idempotent. */
  end(): Promise<void>
}

/** Waits for the lease of `key`, as long as `isWanted`. It lasts until it is released. */
export async function takeLease(
  store: CacheStore,
  key: string,
  { signal, isWanted }: { signal: AbortSignal; isWanted: () => boolean },
): Promise<Lease> {
  const look = () => Promise.all([store.takeLease(key, LEASE_MS), store.get(key)])
  let [isMine, stored] = await look()
  for (let waitMs = FIRST_WAIT_MS; !isMine && stored === undefined; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    await sleep(waitMs, undefined, { signal })
    ;[isMine, stored] = await look()
  }
  if (!isMine) return { stored, end: async () => {} }
  let hasEnded = false
  const end = async () => {
    clearInterval(renewal)
    if (hasEnded) return
    hasEnded = true
    await store.releaseLease(key)
  }
  const renewal = setInterval(() => void (isWanted() ? store.renewLease(key, LEASE_MS) : end()), RENEWAL_MS).unref()
  return { stored, end }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { CacheStore } from './store.ts'

/**
 * DESIGN — whose turn it is to ask
 *
 *   instance A ── take: yes ──► asks the provider ── renew, renew ──► stores ──► release
 *   instance B ── take: no, no, no, … ─────────────────────────────────────► it is stored
 *
 * Flights are of one process. Where instances share a store, the leader of a flight takes the lease of its key first, and
 * waits while another instance has it. Nothing is stored if that one's reply could not be kept: it is the next one's turn.
 * Both are asked at once, on one connection: who gets the lease knows what was stored before.
 *
 * Guarantees: while the store answers, one instance at a time asks for a key. Limits: one that dies is waited for until
 * its lease ends; while the store does not answer, nobody waits.
 */
const LEASE_MS = 6000
const RENEWAL_MS = 2000
const FIRST_WAIT_MS = 10
const LONGEST_WAIT_MS = 200

/** A turn to ask. */
export interface Turn {
  /** What another instance has stored meanwhile: nobody need be asked. */
  readonly stored: Buffer | undefined
  /** Lets the next one have it. Once is enough. */
  end(): Promise<void>
}

/** Waits for the turn to ask for `key`. It lasts as long as `isWanted` says, at most until it is ended. */
export async function takeTurn(
  store: CacheStore,
  key: string,
  { signal, isWanted }: { signal: AbortSignal; isWanted: () => boolean },
): Promise<Turn> {
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

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, Log } from '../core/ports.ts'
import type { ReceiptPage, ReceiptStore, SignedReceipt } from '../core/receipt.ts'
import type { Accountants } from './billing.ts'
import { buildReceipt, type ReplyFacts } from './build.ts'
import type { PublicReceiptKey } from './public-key.ts'
import { RandomPool } from './random-pool.ts'
import { createReceiptId, ID_RANDOM_BYTES } from './receipt-id.ts'
import { signReceipt } from './sign.ts'
import type { ReceiptKey } from './signing-key.ts'
import { ReceiptWriter } from './writer.ts'

/** Writes receipts, and gives them to their owners. */
export interface Receipts {
  /** The keys that tell whether a receipt is genuine. */
  readonly keys: readonly PublicReceiptKey[]
  /** Opens the receipt of a request that is admitted now. */
  open(): OpenReceipt
  /** Makes a receipt and stores it in the background. Never throws. */
  record(facts: ReplyFacts): void
  /** A receipt of this scope, whether stored or on its way. Throws `service_unavailable`. */
  find(scope: string, id: string): Promise<SignedReceipt | undefined>
  /** Stored receipts of a scope, oldest first. Throws `service_unavailable`, or `invalid_request` for an unknown `after`. */
  list(scope: string, page: ReceiptPage): Promise<readonly SignedReceipt[]>
  /** Finishes and stores what waits, for at most `timeoutMs` each. */
  close(timeoutMs: number): Promise<void>
}

/** A receipt that will be written when its reply has ended. */
export interface OpenReceipt {
  /** Is told in the reply's headers. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly admittedAtMs: number
}

/** What receipts are made with. */
export interface ReceiptsOptions extends Accountants {
  readonly key: ReceiptKey
  readonly store: ReceiptStore
  readonly clock: Clock
  readonly log: Log
}

/** Puts building, signing and storing together. */
export function createReceipts({ key, store, clock, log, ...accountants }: ReceiptsOptions): Receipts {
  const writer = new ReceiptWriter({ store, log })
  const building = new Set<Promise<void>>()
  const randomness = new RandomPool(ID_RANDOM_BYTES)
  const make = async (facts: ReplyFacts): Promise<void> => {
    try {
      const nowMs = clock.nowMs()
      const receipt = await buildReceipt(facts, { ...accountants, keyId: key.public.id, nowMs })
      const { scope } = facts.exchange.caller
      writer.add({ id: receipt.id, scope, createdAtMs: nowMs, json: signReceipt(receipt, key) })
    } catch (error) {
      writer.fail(error)
    }
  }
  return {
    keys: [key.public],
    open() {
      const admittedAtMs = clock.nowMs()
      return { id: createReceiptId(admittedAtMs, randomness.take()), admittedAtMs }
    },
    record(facts) {
      const made = make(facts)
      building.add(made)
      void made.then(() => building.delete(made))
    },
    find: async (scope, id) => writer.find(scope, id) ?? store.get(scope, id),
    list: (scope, page) => store.list(scope, page),
    async close(timeoutMs) {
      const atMost = new AbortController()
      const late = sleep(timeoutMs, undefined, { signal: atMost.signal }).catch(() => {})
      await Promise.race([Promise.all(building), late])
      atMost.abort()
      await writer.close(timeoutMs)
    },
  }
}

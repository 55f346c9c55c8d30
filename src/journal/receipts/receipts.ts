import { setTimeout as sleep } from 'node:timers/promises'
import { BufferedWriter } from '../../core/buffered-writer.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Receipt, ReceiptPage, ReceiptStore, SignedReceipt, StoredReceipt } from '../../core/telemetry/receipt.ts'
import type { Accountants } from './billing.ts'
import { buildReceipt, type ReplyFacts } from './build.ts'
import type { PublicReceiptKey } from './public-key.ts'
import { RandomPool } from './random-pool.ts'
import { createReceiptId, ID_RANDOM_BYTES, RECEIPT_ID } from './receipt-id.ts'
import { signReceipt } from './sign.ts'
import type { ReceiptKey } from './signing-key.ts'

/** Is told how replies ended. */
export interface ReplyRecorder {
  /** Whether replies have receipts: then their headers name them, and their bodies are digested. */
  readonly writesReceipts: boolean
  /** Opens the receipt of a request that is admitted now. */
  open(): OpenReceipt
  /** Takes in what is known of a request whose reply has ended; the rest is done in the background. Never throws. */
  record(facts: ReplyFacts): void
}

/** Writes receipts, and gives them to their owners. */
export interface Receipts extends ReplyRecorder {
  /** The keys that tell whether a receipt is genuine. */
  readonly keys: readonly PublicReceiptKey[]
  /** The same without receipts: what they would say is told to `onBuilt`, and not kept. */
  readonly unwritten: ReplyRecorder
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
  /** Is told what each receipt says. Must not throw. */
  readonly onBuilt?: ((receipt: Receipt, facts: ReplyFacts) => void) | undefined
}

/** How long after a reply another instance may still be about to store its receipt. */
const LATER_MS = [60, 140, 300]

/** A receipt that was not there a moment ago: whoever asks for it comes from its reply, which another instance gave. */
async function findLater(store: ReceiptStore, scope: string, id: string): Promise<SignedReceipt | undefined> {
  if (!RECEIPT_ID.test(id)) return undefined
  for (const waitMs of LATER_MS) {
    await sleep(waitMs)
    const found = await store.get(scope, id)
    if (found !== undefined) return found
  }
}

/** As many as one statement takes, and few enough not to hold up others. */
const MOST_AT_ONCE = 64
const MOMENT_MS = 50
const PAUSE_MS = 1000

/** Receipts wait as text, which is what is stored and weighs least on the collector of garbage. */
function createWriter(store: ReceiptStore, log: Log): BufferedWriter<StoredReceipt> {
  return new BufferedWriter({
    put: (batch) => store.put(batch),
    log,
    event: 'receipts.not-stored',
    mostAtOnce: MOST_AT_ONCE,
    momentMs: MOMENT_MS,
    pauseMs: PAUSE_MS,
    longestPauseMs: PAUSE_MS,
    warnEveryMs: PAUSE_MS,
    retriesAtEnd: true,
  })
}

/** Returns the receipt of this scope among those that wait to be stored. */
export function findWaiting(
  waiting: readonly StoredReceipt[],
  { scope, id }: Pick<StoredReceipt, 'scope' | 'id'>,
): SignedReceipt | undefined {
  const found = waiting.find((receipt) => receipt.id === id && receipt.scope === scope)
  // Safe: what waits is a signed receipt's JSON.
  return found && (JSON.parse(found.json) as SignedReceipt)
}

/** Puts building, signing and storing together. */
export function createReceipts({ key, store, clock, log, onBuilt, ...accountants }: ReceiptsOptions): Receipts {
  const writer = createWriter(store, log)
  const building = new Set<Promise<void>>()
  const randomness = new RandomPool(ID_RANDOM_BYTES)
  const make = async (facts: ReplyFacts, { isKept }: { isKept: boolean }): Promise<void> => {
    try {
      const nowMs = clock.nowMs()
      const receipt = await buildReceipt(facts, { ...accountants, keyId: key.public.id, nowMs })
      if (isKept) {
        const { scope } = facts.exchange.caller
        writer.add({ id: receipt.id, scope, createdAtMs: nowMs, json: signReceipt(receipt, key) })
      }
      onBuilt?.(receipt, facts)
    } catch (error) {
      writer.fail(error)
    }
  }
  const record = (facts: ReplyFacts, how: { isKept: boolean }): void => {
    const made = make(facts, how)
    building.add(made)
    void made.then(() => building.delete(made))
  }
  const open = (): OpenReceipt => {
    const admittedAtMs = clock.nowMs()
    return { id: createReceiptId(admittedAtMs, randomness.take()), admittedAtMs }
  }
  return {
    keys: [key.public],
    writesReceipts: true,
    open,
    record: (facts) => record(facts, { isKept: true }),
    unwritten: { writesReceipts: false, open, record: (facts) => record(facts, { isKept: false }) },
    find: async (scope, id) =>
      findWaiting(writer.waiting, { scope, id }) ?? (await store.get(scope, id)) ?? findLater(store, scope, id),
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

import { setTimeout as sleep } from 'node:timers/promises'
import { BufferedWriter } from '../../core/buffered-writer.ts'
import { GatewayError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import type { ReceiptLog } from '../../core/ports/receipt-log.ts'
import { RandomPool } from '../../core/random-pool.ts'
import type { Receipt, ReceiptPage, ReceiptStore, SignedReceipt, StoredReceipt } from '../../core/telemetry/receipt.ts'
import { createReceiptId, ID_RANDOM_BYTES, RECEIPT_ID } from '../../core/telemetry/receipt-id.ts'
import type { Journal } from '../journal.ts'
import type { Accountants } from './billing.ts'
import { buildReceipt, type ReplyFacts } from './build.ts'
import type { KeyRing } from './key-ring.ts'

/** Records how replies ended. */
export interface ReplyRecorder {
  /** True when replies have receipts: their headers name them, and their bodies are digested. */
  readonly writesReceipts: boolean
  /** Opens the receipt of a request that is being admitted. */
  open(): OpenReceipt
  /** Records a request whose reply has ended; the work continues in the background. Never throws. */
  record(facts: ReplyFacts): void
}

/** Writes receipts and returns them to their scopes. */
export interface Receipts extends ReplyRecorder {
  /** The ledger. */
  readonly log: ReceiptLog
  /** The keys that verify these receipts. */
  readonly keys: Pick<KeyRing, 'keys' | 'note'>
  /** A recorder without receipts: their contents go to `onBuilt` and are not stored. */
  readonly unwritten: ReplyRecorder
  /** Returns a receipt of this scope; one that waits is stored first, within two seconds. Throws `service_unavailable`. */
  find(scope: string, id: string): Promise<SignedReceipt | undefined>
  /** Lists stored receipts of a scope, oldest first. Throws `service_unavailable`, or `invalid_request` for an unknown `after`. */
  list(scope: string, page: ReceiptPage): Promise<readonly SignedReceipt[]>
  /** Finishes and stores waiting receipts, for at most `timeoutMs` each. */
  close(timeoutMs: number): Promise<void>
}

/** A receipt that will be written when its reply has ended. */
export interface OpenReceipt {
  /** Sent in the reply's headers. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly admittedAtMs: number
}

/** Dependencies of the receipts. */
export interface ReceiptsOptions extends Accountants {
  readonly keys: KeyRing
  readonly store: ReceiptStore & ReceiptLog
  /** Receipts are built in its batches. */
  readonly journal: Pick<Journal, 'add' | 'flush'>
  readonly clock: Clock
  readonly log: Log
  /** Receives the contents of each receipt. Must not throw. */
  readonly onBuilt?: ((receipt: Receipt, facts: ReplyFacts) => void) | undefined
}

/** Delays in milliseconds within which the receipt of a finished reply may still be built, or stored by another instance. */
const LATER_MS = [60, 140, 300]
/** Longest wait for a receipt to be stored. */
const STORED_WITHIN_MS = 2000

/** Receipts a statement: as many as it takes without delaying other statements. */
const MOST_AT_ONCE = 256
const MOMENT_MS = 40
const PAUSE_MS = 1000

/**
 * Creates the buffered writer, whose batches are those of the ledger: one signed head each. Receipts wait as text, which is
 * the stored form and cheapest for the garbage collector.
 */
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

const NOT_STORED = 'The receipt is not in the ledger yet, since the database fails or is slow. Retry later.'

/** Returns a function that finds a receipt of a scope, and stores it first when it waits. It throws `service_unavailable`. */
function finder(
  writer: BufferedWriter<StoredReceipt>,
  { store, journal }: Pick<ReceiptsOptions, 'store' | 'journal'>,
): Receipts['find'] {
  const findNow: Receipts['find'] = async (scope, id) => {
    journal.flush()
    const waiting = writer.waiting.find((receipt) => receipt.id === id && receipt.scope === scope)
    if (waiting !== undefined && !(await writer.flush(STORED_WITHIN_MS, waiting)))
      throw new GatewayError('service_unavailable', NOT_STORED)
    return store.get(scope, id)
  }
  return async (scope, id) => {
    const found = await findNow(scope, id)
    if (found !== undefined || !RECEIPT_ID.test(id)) return found
    for (const waitMs of LATER_MS) {
      await sleep(waitMs)
      const later = await findNow(scope, id)
      if (later !== undefined) return later
    }
  }
}

/** Prints a receipt as canonical JSON: its members are in order. Throws `TypeError` for one with half a character. */
function textOf(receipt: Receipt): string {
  const text = JSON.stringify(receipt)
  return text.includes(HALF_A_CHARACTER) ? canonicalJson(receipt) : text
}

/** Beginning of the escape of a lone surrogate, which canonical JSON cannot have. */
const HALF_A_CHARACTER = '\\ud'

/** Counts work that has not ended. A set of its promises would keep memory of each. */
class Pending {
  #count = 0
  #onEnd = () => {}

  enter(): void {
    this.#count++
  }

  leave(): void {
    if (--this.#count === 0) this.#onEnd()
  }

  /** Resolves when nothing is pending. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve
      if (this.#count === 0) resolve()
    })
  }
}

/** Creates the receipts of a gateway: building and storing. */
export function createReceipts(options: ReceiptsOptions): Receipts {
  const { keys, store, journal, clock, log, onBuilt, pricer, tokens } = options
  const writer = createWriter(store, log)
  const building = new Pending()
  const randomness = new RandomPool(ID_RANDOM_BYTES)
  const make = async (facts: ReplyFacts, how: { isKept: boolean; nowMs: number }): Promise<void> => {
    try {
      const pending = buildReceipt(facts, { pricer, tokens, ...how })
      // Without a wait, what has just been recorded can be read at once.
      const receipt = pending instanceof Promise ? await pending : pending
      if (how.isKept) {
        const { scope } = facts.exchange.caller
        writer.add({ id: receipt.id, scope, createdAtMs: how.nowMs, json: textOf(receipt) })
      }
      onBuilt?.(receipt, facts)
    } catch (error) {
      writer.fail(error)
    } finally {
      building.leave()
    }
  }
  const record = (facts: ReplyFacts, isKept: boolean): void => {
    building.enter()
    const nowMs = clock.nowMs()
    journal.add(() => void make(facts, { isKept, nowMs }), facts.exchange.original.length + facts.replyBytes)
  }
  const open = (): OpenReceipt => {
    const admittedAtMs = clock.nowMs()
    return { id: createReceiptId(admittedAtMs, randomness.take()), admittedAtMs }
  }
  return {
    log: store,
    keys,
    writesReceipts: true,
    open,
    record: (facts) => record(facts, true),
    unwritten: { writesReceipts: false, open, record: (facts) => record(facts, false) },
    find: finder(writer, options),
    list: (scope, page) => store.list(scope, page),
    async close(timeoutMs) {
      const atMost = new AbortController()
      journal.flush()
      const late = sleep(timeoutMs, undefined, { signal: atMost.signal }).catch(() => {})
      await Promise.race([building.ended(), late])
      atMost.abort()
      await writer.close(timeoutMs)
    },
  }
}

import type { Clock } from '../../core/ports/clock.ts'
import type { ReceiptLog } from '../../core/ports/receipt-log.ts'
import { type PublicReceiptKey, parsePublicKeys } from './public-key.ts'

/** Keys need no credential, so the database is read at most this often. */
const READ_EVERY_MS = 2000

/** Dependencies of `PublishedKeys`. */
export interface PublishedKeysOptions {
  readonly own: PublicReceiptKey
  readonly store: Pick<ReceiptLog, 'state'>
  readonly clock: Clock
}

/** The keys that verify receipts. */
export class PublishedKeys {
  readonly #options: PublishedKeysOptions
  #keys: readonly PublicReceiptKey[]
  #readAtMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(options: PublishedKeysOptions) {
    this.#options = options
    this.#keys = [options.own]
  }

  /** Returns this process's key first, then others that have signed. While the database fails, those known before. */
  async list(): Promise<readonly PublicReceiptKey[]> {
    const isOld = Math.abs(this.#options.clock.nowMs() - this.#readAtMs) >= READ_EVERY_MS
    if (isOld) {
      this.#reading ??= this.#read()
      await this.#reading
    }
    return this.#keys
  }

  async #read(): Promise<void> {
    const { own, store, clock } = this.#options
    const state = await store.state().catch(() => undefined)
    this.#reading = undefined
    if (state === undefined) return
    this.#readAtMs = clock.nowMs()
    this.#keys = [own, ...state.keys.filter((raw) => raw !== own.raw).flatMap((raw) => parsePublicKeys(raw))]
  }
}

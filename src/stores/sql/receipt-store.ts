import { GatewayError } from '../../core/errors.ts'
import type { ReceiptStore, SignedReceipt } from '../../core/receipt.ts'
import type { StoredReceipt } from './receipts.ts'
import type { SqlStore } from './store.ts'

/** Keeps receipts in the database. */
export function createReceiptStore(store: Pick<SqlStore, 'run'>): ReceiptStore {
  const batches = new Batches((receipts) => store.run('receipt.put', receipts))
  const get = async (scope: string, id: string) => {
    const json = await store.run('receipt.get', { scope, id })
    return json === undefined ? undefined : fromJson(json)
  }
  return {
    get,
    put: (scope, receipt) =>
      batches.add({
        id: receipt.id,
        scope,
        createdAtMs: Date.parse(receipt.created_at),
        json: JSON.stringify(receipt),
      }),
    async list(scope, { after: id, limit }) {
      const last = id === undefined ? undefined : await get(scope, id)
      if (id !== undefined && last === undefined)
        throw new GatewayError('invalid_request', `after: you have no receipt \`${id.slice(0, LONGEST_SHOWN)}\`.`)
      const after = last && { id: last.id, createdAtMs: Date.parse(last.created_at) }
      const found = await store.run('receipt.list-oldest', { scope, after, limit })
      return found.map(fromJson)
    },
  }
}

const LONGEST_SHOWN = 40
/** Those that are put within this time go to the database together. */
const MOMENT_MS = 2
/** As many as one statement takes on both engines, and few enough not to hold up the others. */
const MOST_AT_ONCE = 256

/** Receipts that are put one by one and stored together: one message, one statement and one commit for many. */
class Batches {
  readonly #put: (receipts: readonly StoredReceipt[]) => Promise<void>
  #open: { receipts: StoredReceipt[]; written: Promise<void>; close: () => void } | undefined

  constructor(put: (receipts: readonly StoredReceipt[]) => Promise<void>) {
    this.#put = put
  }

  /** Resolves when the receipt is on disk; rejects when its batch could not be stored. */
  add(receipt: StoredReceipt): Promise<void> {
    this.#open ??= this.#begin()
    const { receipts, written, close } = this.#open
    if (receipts.push(receipt) === MOST_AT_ONCE) close()
    return written
  }

  #begin() {
    const receipts: StoredReceipt[] = []
    const { promise: written, resolve } = Promise.withResolvers<void>()
    const close = () => {
      clearTimeout(timer)
      this.#open = undefined
      resolve(this.#put(receipts))
    }
    const timer = setTimeout(close, MOMENT_MS)
    return { receipts, written, close }
  }
}

function fromJson(json: string): SignedReceipt {
  // Safe: receipts are put as above only.
  return JSON.parse(json) as SignedReceipt
}

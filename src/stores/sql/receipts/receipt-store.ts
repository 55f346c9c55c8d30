import { GatewayError } from '../../../core/errors.ts'
import type { LogContent, ReceiptLog } from '../../../core/ports/receipt-log.ts'
import type { ReceiptStore, SignedReceipt } from '../../../core/telemetry/receipt.ts'
import type { SqlStore } from '../store.ts'
import type { LedgerKey } from './batch.ts'
import type { FoundReceipt } from './receipts.ts'

/** Creates the store of receipts in the database. `key` signs the heads of the ledger. */
export function createReceiptStore(
  store: Pick<SqlStore, 'run'>,
  { raw, privateKey, earlier }: LedgerKey,
): ReceiptStore & ReceiptLog {
  const get = async (scope: string, id: string) => {
    const found = await store.run('receipt.get', { scope, id })
    return found && toReceipt(found)
  }
  return {
    get,
    put: (receipts) => store.run('receipt.put', { receipts, key: { raw, privateKey, earlier } }),
    async list(scope, { after: id, limit }) {
      const last = id === undefined ? undefined : await get(scope, id)
      if (id !== undefined && last === undefined)
        throw new GatewayError('invalid_request', `after: you have no receipt \`${id.slice(0, LONGEST_SHOWN)}\`.`)
      const after = last && { id: last.id, createdAtMs: Date.parse(last.created_at) }
      const found = await store.run('receipt.list', { scope, after, limit })
      return found.map(toReceipt)
    },
    ...createReceiptLog(store),
  }
}

/** Creates the reader of the ledger's state and proofs. */
function createReceiptLog(store: Pick<SqlStore, 'run'>): ReceiptLog {
  return {
    state: () => store.run('log.read', undefined),
    inclusion: (index) => store.run('log.inclusion', { index }),
    consistency: (size) => store.run('log.consistency', { size }),
  }
}

/** Creates the reader of the ledger's whole content. */
export function createLogContent(store: Pick<SqlStore, 'run'>): LogContent {
  return {
    state: () => store.run('log.read', undefined),
    heads: (fromLeaf) => store.run('log.heads', { fromLeaf }),
    receipts: (ids) => store.run('log.receipts', { ids }),
    stored: (afterId) => store.run('log.stored', { afterId }),
  }
}

const LONGEST_SHOWN = 40

/** Joins a receipt with its proof. */
export function toReceipt({ json, proof }: FoundReceipt): SignedReceipt {
  // Safe: receipts are put as above only.
  return { ...(JSON.parse(json) as SignedReceipt), ...(proof && { proof }) }
}

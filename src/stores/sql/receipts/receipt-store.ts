import { GatewayError } from '../../../core/errors.ts'
import type { ReceiptStore, SignedReceipt } from '../../../core/telemetry/receipt.ts'
import type { SqlStore } from '../store.ts'

/** Creates the store of receipts in the database. */
export function createReceiptStore(store: Pick<SqlStore, 'run'>): ReceiptStore {
  const get = async (scope: string, id: string) => {
    const json = await store.run('receipt.get', { scope, id })
    return json === undefined ? undefined : fromJson(json)
  }
  return {
    get,
    put: (receipts) => store.run('receipt.put', receipts),
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
function fromJson(json: string): SignedReceipt {
  // Safe: receipts are put as above only.
  return JSON.parse(json) as SignedReceipt
}

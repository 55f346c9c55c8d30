import type { ExecutionContext } from 'ava'
import { type LedgerReport, verifyLedger } from '../../src/journal/ledger/verify-ledger.ts'
import type { PublicReceiptKey } from '../../src/journal/receipts/public-key.ts'
import { createLogContent } from '../../src/stores/sql/receipts/receipt-store.ts'
import type { SqlStore } from '../../src/stores/sql/store.ts'

/** Asserts that each stored receipt is in the ledger, unchanged, and that none was deleted. */
export async function assertLedger(
  t: ExecutionContext,
  store: Pick<SqlStore, 'run'>,
  keys: readonly PublicReceiptKey[],
): Promise<LedgerReport> {
  const report = await verifyLedger({ content: createLogContent(store), keys, kept: [], oldestId: () => '' })
  t.deepEqual(report.faults, [], 'each receipt is genuine')
  t.is(report.receipts, report.leaves)
  return report
}

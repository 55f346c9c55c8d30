/**
 * A process of its own that uses the ledger: `node load.ts <database address or -> <data folder> <name>`. It gives
 * credits, holds calls and ends them forever, and prints each operation once it has been acknowledged; every third hold
 * it leaves open.
 */
import { openSqlStore } from '../../../../src/stores/sql/store.ts'
import { LOADED_ACCOUNTS, PLANS } from './accounts.ts'

const LEASE_MS = 3_600_000
const LOOPS = 16

const [, , address = '-', dataDir = '', name = ''] = process.argv
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const store = await openSqlStore({
  databaseUrl: address === '-' ? undefined : address,
  dataDir,
  log,
  clock: { nowMs: () => Date.now() },
  patienceMs: 120_000,
})

/** Prints at once, so that the line is out when the process is killed. */
function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function load(loop: number): Promise<void> {
  for (let i = 0; ; i++) {
    const id = `${name}-${loop}-${i}`
    // Safe: the index is within the list.
    const accountId = LOADED_ACCOUNTS[(loop + i) % LOADED_ACCOUNTS.length] as string
    if (i % 4 === 0) {
      await store.run('ledger.append', { accountId, kind: 'grant', credits: 35, idem: id })
      print(`appended ${id}`)
    }
    const order = { holdId: id, accountId, calls: 1 + (i % 2), plans: PLANS, leaseMs: LEASE_MS }
    const { ok } = await store.run('ledger.take', order)
    if (!ok) continue
    print(`held ${id}`)
    if (i % 3 === 2) continue
    await store.run('ledger.end', [{ holdId: id, accountId, usedCalls: i % 2 }])
    print(`ended ${id} ${i % 2}`)
  }
}

print('open')
await Promise.all(Array.from({ length: LOOPS }, (_, loop) => load(loop)))

/**
 * A process of its own that uses the ledger: `node process.ts <reserve|load> <database address or -> <data folder> <name>`.
 *
 * `reserve` waits for a word, holds 1 in nested windows 200 times at once, and prints the result. `load` reserves and settles forever,
 * printing each operation once it has been acknowledged; it leaves every third hold open.
 */
import { once } from 'node:events'
import type { Log } from '../../../src/core/ports/log.ts'
import type { SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { openSqlStore } from '../../../src/stores/sql/store.ts'

const PATIENCE_MS = 120_000
const LEASE_MS = 3_600_000
const WINDOW: SpendWindow = { scope: 'shared', window: 'd:2026-11-21', limitNanoUsd: 300 }

/** Keys of a process, and teams and tags of all of them. */
const [KEYS, TEAMS, TAGS] = [4, 3, 5]

const [, , task, address = '-', dataDir = '', name = ''] = process.argv
const log: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const clock = { nowMs: () => Date.now() }
const databaseUrl = address === '-' ? undefined : address
const store = await openSqlStore({ databaseUrl, dataDir, log, clock, patienceMs: PATIENCE_MS })
const ledger = createSpendLedger({ store, log })

/** Windows of a request, in no order: of its key, its team, the gateway, and of most also of a tag. */
function windowsOf(nth: number, limitNanoUsd: number): SpendWindow[] {
  const day = { window: WINDOW.window, limitNanoUsd: Number.MAX_SAFE_INTEGER }
  const tag = nth % TAGS
  return [
    { ...WINDOW, limitNanoUsd },
    { ...day, scope: `team:${nth % TEAMS}` },
    ...(tag === 0 ? [] : [{ ...day, scope: `tag:${tag}` }]),
    { ...day, scope: `key:${name}-${nth % KEYS}` },
  ]
}

/** Prints at once, so that the line is out when the process is killed. */
function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function reserve(): Promise<void> {
  await once(process.stdin, 'data')
  process.stdin.destroy()
  const holds = Array.from({ length: 200 }, (_, i) => ({ holdId: `${name}-${i}`, amountNanoUsd: 1, leaseMs: LEASE_MS }))
  const results = await Promise.all(
    holds.map((hold, i) => ledger.reserve({ ...hold, windows: windowsOf(i, WINDOW.limitNanoUsd) })),
  )
  const refusals = results.flatMap((result) => (result.ok ? [] : [result.spentNanoUsd]))
  print(JSON.stringify({ admitted: results.length - refusals.length, refusals }))
}

async function load(loop: number): Promise<void> {
  for (let i = 0; ; i++) {
    const holdId = `${name}-${loop}-${i}`
    const windows = windowsOf(loop + i, Number.MAX_SAFE_INTEGER)
    await ledger.reserve({ holdId, amountNanoUsd: 10, windows, leaseMs: LEASE_MS })
    print(`reserved ${holdId}`)
    if (i % 3 === 2) continue
    await ledger.settle({ holdId, costNanoUsd: i % 10 })
    print(`settled ${holdId} ${i % 10}`)
  }
}

print('open')
if (task === 'load') await Promise.all(Array.from({ length: 24 }, (_, loop) => load(loop)))
else await reserve()
await ledger.close(10_000)
await store.close()

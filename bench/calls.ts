// `node bench/calls.ts [postgresql://…]`: CPU of a plan's call in microseconds: held before the reply, counted after
// it. All threads of this process are included, a PostgreSQL server is not.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { QuotaCharges } from '../src/accounts/plans/quota-charges.ts'
import type { Log } from '../src/core/ports/log.ts'
import { createCallLedger } from '../src/stores/sql/credits/call-ledger.ts'
import { openSqlStore } from '../src/stores/sql/store.ts'

const REQUESTS = 4000
const AT_ONCE = 16
const ROUNDS = 3
const PATIENCE_MS = 60_000
const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error, child: () => log }

const [databaseUrl] = process.argv.slice(2)
const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
const clock = { nowMs: () => Date.now() }
const store = await openSqlStore({ databaseUrl, dataDir, log, clock, patienceMs: PATIENCE_MS })
const ledger = createCallLedger({ store, log })

/** Measures µs of CPU per request. */
async function measure(includedCalls: number, accountIds: readonly string[]): Promise<{ all: number; main: number }> {
  const plan = { includedCalls, creditsPerCall: 1 }
  const charges = new QuotaCharges({ ledger, plans: { free: plan, pro: plan, team: plan }, leaseMs: PATIENCE_MS, log })
  const [before, mainBefore] = [process.cpuUsage(), process.threadCpuUsage()]
  let begun = 0
  const client = async (): Promise<void> => {
    while (begun < REQUESTS) {
      const index = begun++
      // Safe: the index is within the list.
      const userId = accountIds[index % accountIds.length] as string
      const charge = charges.open(`${process.hrtime.bigint()}-${index}`, { kind: 'key', scope: userId, userId })
      await charge?.hold()
      charge?.count()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  await charges.close(PATIENCE_MS)
  const [{ user, system }, main] = [process.cpuUsage(before), process.threadCpuUsage(mainBefore)]
  return { all: (user + system) / REQUESTS, main: (main.user + main.system) / REQUESTS }
}

const ids = Array.from({ length: 100 }, (_, index) => `bench-${index}`)
for (const accountId of ids) {
  await store.run('account.open', { id: accountId })
  await store.run('ledger.append', { accountId, kind: 'grant', credits: 10_000_000, idem: `bench-${Date.now()}` })
}
console.log('| calls | accounts | CPU, all threads | of it the main thread |\n| --- | --- | --- | --- |')
for (const [name, included] of [
  ['included', Number.MAX_SAFE_INTEGER],
  ['from credits', 0],
] as const) {
  for (const accounts of [ids.slice(0, 1), ids]) {
    const rounds = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(included, accounts))
    const [least] = rounds.toSorted((a, b) => a.all - b.all)
    console.log(`| ${name} | ${accounts.length} | ${least?.all.toFixed(0)} µs | ${least?.main.toFixed(0)} µs |`)
  }
}
await ledger.close()
await store.close()
rmSync(dataDir, { recursive: true, force: true })

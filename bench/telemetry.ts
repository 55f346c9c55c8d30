// `node bench/telemetry.ts [postgresql://…]`: cost of recording one request on the main thread, in microseconds of CPU.
// It includes all work of that thread: making the row, the batch's way to the database, its reply. The thread that
// writes SQLite is excluded. Limits: requests arrive as fast as they are stored, so batches are full.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { NO_COST } from '../src/core/money/prices.ts'
import type { Log } from '../src/core/ports/log.ts'
import type { Receipt } from '../src/core/telemetry/receipt.ts'
import { finishedRequestOf } from '../src/journal/receipts/finished-request.ts'
import { openSqlStore } from '../src/stores/sql/store.ts'
import { openTelemetryStore } from '../src/stores/sql/telemetry/telemetry.ts'
import { openExchange } from '../test/support/exchange.ts'
import { sampleReceipt } from '../test/support/receipts.ts'
import { sampleRequest } from '../test/support/telemetry.ts'

const ROUNDS = 40
const REQUESTS_A_ROUND = 5000
const BODY = '{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}'
const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error, child: () => log }
const clock = { nowMs: () => Date.now() }

const [databaseUrl] = process.argv.slice(2)
const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
const store = await openSqlStore({ databaseUrl, dataDir, log, clock })
const exchange = openExchange({ body: BODY, dialect: 'messages' })
const step = { module: 'cost-guard', action: 'held', durationMs: 0.125, details: { heldUsd: 0.01, worstUsd: 0.2 } }
exchange.record(step)
exchange.record({ ...step, module: 'exact-cache', action: 'miss' })
const steps = exchange.trace.map(({ module, action, durationMs: ms }) => ({ module, action, ms }))

/** Measures the CPU of this thread for a round of requests that are built and passed to `record`, in µs per request. */
async function round(record: (receipt: Receipt) => void, end: () => Promise<void>): Promise<number> {
  const ids = Array.from({ length: REQUESTS_A_ROUND }, () => sampleRequest({ startedAtMs: Date.now() }).id)
  const before = process.threadCpuUsage()
  for (const [index, id] of ids.entries()) {
    record(sampleReceipt({ id, request_id: id, steps }))
    if (index % 100 === 0) await turn()
  }
  await end()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / REQUESTS_A_ROUND
}

const costs: number[] = []
for (let i = 0; i < ROUNDS; i++) {
  const telemetry = openTelemetryStore({ databaseUrl, dataDir, accounts: store, log, clock })
  await telemetry.list('nobody', { limit: 1 })
  const nothing = await round(
    () => {},
    async () => {},
  )
  const context = { exchange, admittedAtMs: Date.now() }
  const all = await round(
    (receipt) =>
      telemetry.record(
        finishedRequestOf(receipt, context, {
          hasReceipt: true,
          hasConversation: true,
          pricer: { split: () => NO_COST },
        }),
      ),
    () => telemetry.close(60_000),
  )
  costs.push(all - nothing)
}
await store.close()
rmSync(dataDir, { recursive: true })

const sorted = costs.toSorted((a, b) => a - b)
const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)
console.log(`${databaseUrl === undefined ? 'sqlite' : 'postgres'}: µs a request: median ${at(0.5)}, p90 ${at(0.9)}`)

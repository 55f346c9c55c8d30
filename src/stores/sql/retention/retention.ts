import { setTimeout as sleep } from 'node:timers/promises'
import { messageWithCause } from '../../../core/errors.ts'
import { type Interval, startInterval } from '../../../core/interval.ts'
import { BUDGET_KEPT_DAYS } from '../../../core/money/budget-windows.ts'
import type { Clock } from '../../../core/ports/clock.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { SqlStore } from '../store.ts'
import { firstSliceIdAt } from '../telemetry/slices.ts'
import { PRUNED_AT_ONCE } from './prune.ts'

/**
 * DESIGN — retention
 *
 * Old rows are deleted in batches of 200, each a command among the others, with a pause after each: little ages out at any
 * moment, and a long backlog is deleted slowly, without delaying requests. Receipts and requests are selected by their ids,
 * which sort by time, so that no further index is kept up for it. Several processes may do the same at once.
 */
const EVERY_MS = 10 * 60 * 1000
/** Telemetry's database is opened when it is used: a start opens the other alone. */
const FIRST_TELEMETRY_AFTER_MS = EVERY_MS / 10
const PAUSE_MS = 25
const DAY_MS = 24 * 60 * 60 * 1000
/** Thirteen months, and a bit: the same month of the year before is still there to compare with. */
const SUMS_KEPT_MS = 400 * DAY_MS

/** Options of the retention. */
export interface RetentionOptions {
  readonly store: Pick<SqlStore, 'run'>
  /** Time for which receipts are kept, in milliseconds; 0: forever. */
  readonly receiptsMs: number
  /** Store of telemetry, and the time for which it is kept; unset when there is none. */
  readonly telemetry: { readonly store: Pick<SqlStore, 'run'>; readonly keepMs: number } | undefined
  /** Returns the first id that a receipt or request of this time could have. */
  readonly firstIdAt: (ms: number) => string
  readonly clock: Clock
  readonly log: Log
}

/** Deletes old rows periodically. */
export interface Retention {
  /** Starts it: telemetry after a minute, and everything again every ten minutes. A failure is logged. */
  start(): void
  /** Deletes all rows that are too old now. Throws `service_unavailable`. */
  prune(): Promise<void>
  /** Stops the timer, and waits for the running batch. */
  close(): Promise<void>
}

/** Deletes one batch of one kind of row; returns the number of rows. */
type Batch = () => Promise<number>

/** Retention that deletes nothing until it is started. */
export function createRetention(options: RetentionOptions): Retention {
  const { log } = options
  const onError = (error: unknown) => log.warn({ reason: messageWithCause(error) }, 'retention.failed')
  const closing = new AbortController()
  let first: Promise<void> | undefined
  let interval: Interval | undefined
  return {
    start() {
      first ??= pruneAll({ ...options, telemetry: undefined }, closing.signal).catch(onError)
      const times = { firstMs: FIRST_TELEMETRY_AFTER_MS, everyMs: EVERY_MS }
      interval ??= startInterval((signal) => pruneAll(options, signal), { ...times, onError })
    },
    prune: () => pruneAll(options, closing.signal),
    async close() {
      closing.abort()
      await Promise.all([first, interval?.close()])
    },
  }
}

/** Deletes all kinds. Telemetry comes last: a fault of its file must not keep the others from being pruned. */
async function pruneAll(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { store, telemetry, receiptsMs, firstIdAt, clock, log } = options
  const nowMs = clock.nowMs()
  const pruned: Record<string, number> = {}
  const prune = async (name: string, batch: Batch): Promise<void> => {
    const rows = await pruneKind(batch, signal)
    if (rows > 0) pruned[name] = rows
  }
  try {
    const oldest = new Date(nowMs - SUMS_KEPT_MS).toISOString()
    const days = { fromWindow: 'd:', beforeWindow: `d:${oldest.slice(0, 10)}` }
    const months = { fromWindow: 'm:', beforeWindow: `m:${oldest.slice(0, 7)}` }
    await prune('days', () => store.run('spend.prune', days))
    await prune('months', () => store.run('spend.prune', months))
    const budgets = { beforeDay: Math.floor(nowMs / DAY_MS) - BUDGET_KEPT_DAYS }
    await prune('budgets', () => store.run('spend.prune-budgets', budgets))
    const receipts = { beforeId: firstIdAt(nowMs - receiptsMs) }
    if (receiptsMs > 0) await prune('receipts', () => store.run('receipt.prune', receipts))
    if (telemetry === undefined) return
    const requests = { beforeId: firstIdAt(nowMs - telemetry.keepMs) }
    await prune('requests', () => telemetry.store.run('telemetry.prune', requests))
    await prune('conversations', () => telemetry.store.run('telemetry.prune-conversations', requests))
    const hours = { beforeMs: nowMs - SUMS_KEPT_MS }
    await prune('hours', () => telemetry.store.run('telemetry.prune-hours', hours))
    const slices = { beforeId: firstSliceIdAt(nowMs - SUMS_KEPT_MS) }
    await prune('slices', () => telemetry.store.run('telemetry.prune-slices', slices))
  } finally {
    if (Object.keys(pruned).length > 0) log.info(pruned, 'retention.pruned')
  }
}

/** Runs batches until one is not full. */
async function pruneKind(batch: Batch, signal: AbortSignal): Promise<number> {
  let rows = 0
  while (!signal.aborted) {
    const deleted = await batch()
    rows += deleted
    if (deleted < PRUNED_AT_ONCE) break
    await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
  }
  return rows
}

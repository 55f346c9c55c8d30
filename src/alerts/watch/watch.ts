import { randomUUID } from 'node:crypto'
import { messageWithCause } from '../../core/errors.ts'
import { startInterval } from '../../core/interval.ts'
import type { AlertStore, RaiseAlert } from '../../core/ports/alerts.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import { type FindNames, toNames } from '../../core/ports/names.ts'
import { BLOCKING_ACTIONS, blockedAlert, idsOfBlocked } from './blocked-alert.ts'
import { capAlert } from './cap-alert.ts'
import type { ProviderWatch } from './provider-watch.ts'
import { type RefusedCaps, windowsAt } from './refused-caps.ts'
import { readSpendAlert, type SpendHistory } from './spend-watch.ts'

/** Readings of the slower facts are rarer than those of caps. */
const RARELY_MS = 10 * 60_000
/** Entries of the audit log that are older were alerts before, or no process was running. */
/** A full batch: there may be more. */
const PRUNED_AT_ONCE = 200
const RECENT_MS = 15 * 60_000

/** Input of `startWatch`. */
export interface WatchOptions {
  readonly store: AlertStore
  readonly raise: RaiseAlert
  readonly findNames: FindNames
  readonly providers: ProviderWatch
  readonly refused: RefusedCaps
  /** `undefined` without telemetry. */
  readonly spend: SpendHistory | undefined
  /** Percent. */
  readonly shares: readonly number[]
  readonly floorNanoUsd: number
  readonly everyMs: number
  readonly clock: Clock
  readonly log: Log
}

/** Reads facts at intervals: those of the process in each, those of the database in one process at a time. */
export interface Watch {
  /** Reads now, or joins the reading in flight. Never rejects. */
  read(): Promise<void>
  close(): Promise<void>
}

/** Starts the readings. */
export function startWatch(options: WatchOptions): Watch {
  const { store, raise, findNames, providers, refused, clock, log, everyMs } = options
  const holder = randomUUID()
  let rarelyAtMs = 0
  const read = async (): Promise<void> => {
    for (const alert of providers.read()) raise(alert)
    const own = refused.take()
    const isHolder = await store.lease({ name: 'watch', holder, leaseMs: everyMs * 2 })
    if (isHolder || own.length > 0) {
      const crossed = await store.crossedCaps({
        windows: windowsAt(clock.nowMs()),
        shares: options.shares,
        refused: own,
      })
      for (const cap of crossed) raise(capAlert(cap))
    }
    if (!isHolder) return
    const blocked = await store.blockedAccess({ sinceMs: clock.nowMs() - RECENT_MS, actions: BLOCKING_ACTIONS })
    const names = toNames(blocked.length === 0 ? [] : await findNames({ ids: idsOfBlocked(blocked) }))
    for (const entry of blocked) raise(blockedAlert(entry, names))
    if (clock.nowMs() < rarelyAtMs) return
    rarelyAtMs = clock.nowMs() + Math.max(RARELY_MS, everyMs)
    await readRarely(options)
  }
  const onError = (error: unknown) => log.warn({ reason: messageWithCause(error) }, 'alerts.not-read')
  const interval = startInterval(read, { everyMs, onError })
  return { read: () => interval.run(), close: () => interval.close() }
}

async function readRarely({ store, raise, spend, floorNanoUsd, clock }: WatchOptions): Promise<void> {
  while ((await store.prune()) >= PRUNED_AT_ONCE);
  if (spend === undefined) return
  const alert = await readSpendAlert(spend, { nowMs: clock.nowMs(), floorNanoUsd })
  if (alert !== undefined) raise(alert)
}

import { messageOf } from '../../core/errors.ts'
import { startInterval } from '../../core/interval.ts'
import type { Log } from '../../core/ports/log.ts'
import type { SqlStore } from './store.ts'

/** Sweeps the holds of a ledger; stops with `close`, after the sweep in flight. */
export interface HoldSweeper {
  sweep(): Promise<void>
  close(): Promise<void>
}

/** Input of `startHoldSweeper`. */
export interface HoldSweeperOptions {
  readonly store: SqlStore
  readonly command: 'spend.sweep' | 'ledger.sweep'
  readonly everyMs: number
  /** First word of its log events: `<name>.holds-expired`, `<name>.sweep-failed`. */
  readonly name: 'spend' | 'calls'
  readonly log: Log
}

/** Runs a ledger's sweep until nothing is left: at the start, and at intervals. */
export function startHoldSweeper({ store, command, everyMs, name, log }: HoldSweeperOptions): HoldSweeper {
  const sweep = async (signal?: AbortSignal): Promise<void> => {
    for (;;) {
      const { expired, isMore } = await store.run(command, undefined)
      // Holds were never ended: after a crash, or with a lease too short.
      if (expired > 0) log.warn({ holds: expired }, `${name}.holds-expired`)
      if (!isMore || signal?.aborted) return
    }
  }
  const onError = (error: unknown) => log.warn({ reason: messageOf(error) }, `${name}.sweep-failed`)
  const interval = startInterval(sweep, { everyMs, onError })
  void interval.run()
  return { sweep: () => sweep(), close: () => interval.close() }
}

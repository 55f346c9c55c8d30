import type { CallLedger } from '../../../core/ports/calls.ts'
import type { Log } from '../../../core/ports/log.ts'
import { startHoldSweeper } from '../hold-sweeper.ts'
import type { SqlStore } from '../store.ts'

const SWEEP_EVERY_MS = 30_000

/** A ledger with a timer. */
export interface SqlCallLedger extends CallLedger {
  /** Releases holds whose lease has ended; runs at the start and every thirty seconds. */
  sweep(): Promise<void>
  /** Stops the timer; the store stays open. */
  close(): Promise<void>
}

/** Creates the ledger of calls and credits in the database. */
export function createCallLedger({ store, log }: { store: SqlStore; log: Log }): SqlCallLedger {
  const sweeper = startHoldSweeper({ store, command: 'ledger.sweep', everyMs: SWEEP_EVERY_MS, name: 'calls', log })
  return {
    take: (order) => store.run('ledger.take', order),
    async end(ends) {
      const outcomes = await store.run('ledger.end', ends)
      const late = outcomes.filter((outcome) => outcome === 'late').length
      // The lease is too short for what requests take.
      if (late > 0) log.warn({ holds: late }, 'calls.ended-late')
      return outcomes
    },
    sweep: () => sweeper.sweep(),
    close: () => sweeper.close(),
  }
}

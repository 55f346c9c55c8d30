import type { ChargeOf, QuotaCharge } from '../../../core/money/quota-charge.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { Reservation, SpendHold, SpendLedger } from '../../../core/ports/spend-ledger.ts'
import { startHoldSweeper } from '../hold-sweeper.ts'
import type { SqlStore } from '../store.ts'
import { SpendEnds } from './ends.ts'

const SWEEP_EVERY_MS = 5000

/** Dependencies of a ledger. */
export interface SpendLedgerOptions {
  readonly store: SqlStore
  /** Finds a request's quota charge. Default: none. */
  readonly chargeOf?: ChargeOf | undefined
  readonly log: Log
}

/** A ledger with a timer. */
export interface SqlSpendLedger extends SpendLedger {
  /** Counts expired holds at their full amount; runs at the start and every five seconds. */
  sweep(): Promise<void>
  /** Sends waiting ends for at most `timeoutMs`, and stops the timers; the store stays open. */
  close(timeoutMs: number): Promise<void>
}

/** Creates the spend ledger in the database. */
export function createSpendLedger({ store, chargeOf, log }: SpendLedgerOptions): SqlSpendLedger {
  const ends = new SpendEnds({ settle: (ends) => store.run('spend.settle', ends), log })
  const sweeper = startHoldSweeper({ store, command: 'spend.sweep', everyMs: SWEEP_EVERY_MS, name: 'spend', log })
  return {
    async reserve(hold) {
      const result = await reserve(store, hold, chargeOf?.(hold.holdId))
      // A refusal changes no row: without its limit in one, it could not be raised from there.
      if (!result.ok && result.refusedBy.isBudget && result.recordedNanoUsd !== result.refusedBy.limitNanoUsd)
        await store.run('spend.open-budget', result.refusedBy)
      return result
    },
    grow: (change) => store.run('spend.grow', change),
    settle: (end) => ends.send(end),
    spent: (windows) => store.run('spend.read', windows),
    sweep: () => sweeper.sweep(),
    async close(timeoutMs) {
      await sweeper.close()
      await ends.close(timeoutMs)
    },
  }
}

/** Holds the money, and the request's quota charge, in one transaction: both, or neither. */
async function reserve(store: SqlStore, hold: SpendHold, charge: QuotaCharge | undefined): Promise<Reservation> {
  const order = charge?.order()
  if (charge === undefined || order === undefined) return store.run('spend.reserve', hold)
  const { spend, call } = await store.run('spend.admit', { hold, call: order })
  if (call !== undefined) charge.accept(call)
  return spend
}

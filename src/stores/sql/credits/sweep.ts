import type { Command } from '../engine/command.ts'
import { type HoldTable, type SweepOutcome, sweepHolds } from '../engine/sweep-holds.ts'
import { releaseCredits } from './account-credits.ts'
import { changeCalls } from './call-window.ts'
import type { CreditHoldTable } from './schema.ts'

const HOLDS: HoldTable = { name: 'credit_hold', ended: ['posted', 'voided', 'expired'] }

type ExpiredHold = Pick<CreditHoldTable, 'account_id' | 'window_id' | 'calls' | 'call_credits'>

/** Releases holds whose lease has ended, and deletes holds that ended long ago. */
export const sweepCalls: Command<undefined, SweepOutcome> = (db, _, now) =>
  sweepHolds<ExpiredHold>(
    db,
    {
      table: HOLDS,
      columns: ['account_id', 'window_id', 'calls', 'call_credits'],
      async release(expired) {
        for (const freed of sumByWindow(expired)) {
          await changeCalls(db, freed, { settledCalls: 0, heldCalls: -freed.calls })
          if (freed.credits > 0) await releaseCredits(db, freed.accountId, freed.credits)
        }
      },
    },
    now,
  )

interface Freed {
  readonly accountId: string
  readonly windowId: string
  readonly calls: number
  readonly credits: number
}

/** Sums these holds by period, in the order in which accounts are locked. */
function sumByWindow(holds: readonly ExpiredHold[]): Freed[] {
  const sums = new Map<string, Freed>()
  for (const { account_id: accountId, window_id: windowId, calls, call_credits } of holds) {
    const key = `${accountId} ${windowId}`
    const before = sums.get(key)
    const credits = (before?.credits ?? 0) + calls * call_credits
    sums.set(key, { accountId, windowId, calls: (before?.calls ?? 0) + calls, credits })
  }
  return [...sums.values()].toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1))
}

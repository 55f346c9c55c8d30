import { type Kysely, sql } from 'kysely'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { releaseCredits } from './account-credits.ts'
import { changeCalls } from './call-window.ts'
import type { CreditHoldState, CreditHoldTable } from './schema.ts'

/** Time for which an expired hold waits for its end. */
const EXPIRED_KEPT_MS = 7 * 24 * 60 * 60 * 1000
/** Holds that one sweep expires, and rows it deletes: few enough not to block other commands. */
const SWEPT_AT_ONCE = 200

/** Result of a sweep; `isMore`: there was work, so there may be more. */
export interface CallSweepOutcome {
  readonly expired: number
  readonly forgotten: number
  readonly isMore: boolean
}

/** Releases holds whose lease has ended, and deletes holds that ended long ago. */
export const sweepCalls: Command<undefined, CallSweepOutcome> = async (db, _, now) => {
  const due = await dueHolds(db, ['open'], now)
  const expired = await expire(db, due, now)
  for (const freed of sumByWindow(expired)) {
    await changeCalls(db, freed, { settledCalls: 0, heldCalls: -freed.calls })
    if (freed.credits > 0) await releaseCredits(db, freed.accountId, freed.credits)
  }
  const ended = await dueHolds(db, ['posted', 'voided', 'expired'], now)
  const forgotten = await forget(db, ended, now)
  return { expired: expired.length, forgotten, isMore: due.length + ended.length > 0 }
}

/** Returns due holds, the longest waiting first. */
async function dueHolds(db: Kysely<Database>, states: readonly CreditHoldState[], now: Moment): Promise<string[]> {
  const rows = await db
    .selectFrom('credit_hold')
    .select('id')
    .where('state', 'in', states)
    .where('due_at_ms', '<=', now)
    .orderBy('due_at_ms')
    .limit(SWEPT_AT_ONCE)
    .execute()
  return rows.map(({ id }) => id)
}

type ExpiredHold = Pick<CreditHoldTable, 'account_id' | 'window_id' | 'calls' | 'call_credits'>

/** Checks again on the locked row: it may have been renewed or ended since it was selected. */
async function expire(db: Kysely<Database>, ids: readonly string[], now: Moment): Promise<ExpiredHold[]> {
  if (ids.length === 0) return []
  return db
    .updateTable('credit_hold')
    .set({ previous_state: 'open', state: 'expired', due_at_ms: sql`${now} + ${EXPIRED_KEPT_MS}` })
    .where('id', 'in', ids)
    .where('state', '=', 'open')
    .where('due_at_ms', '<=', now)
    .returning(['account_id', 'window_id', 'calls', 'call_credits'])
    .execute()
}

async function forget(db: Kysely<Database>, ids: readonly string[], now: Moment): Promise<number> {
  if (ids.length === 0) return 0
  const deleted = await db
    .deleteFrom('credit_hold')
    .where('id', 'in', ids)
    .where('state', '!=', 'open')
    .where('due_at_ms', '<=', now)
    .returning('id')
    .execute()
  return deleted.length
}

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

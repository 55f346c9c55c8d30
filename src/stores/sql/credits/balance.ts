import { type PlanPeriod, periodOf, type Tier } from '../../../core/money/plans.ts'
import type { Command } from '../engine/command.ts'

/** Where an account stands. */
export interface AccountBalance {
  readonly tier: Tier
  /** What may still be spent: what is held for running requests is not in it. */
  readonly credits: number
  /** End of the paid period, in milliseconds since 1970, as far as it is known. */
  readonly periodEndMs: number | null
  /** The period in which its calls are counted now. */
  readonly period: PlanPeriod
  /** Of this period: answered, or running. */
  readonly usedCalls: number
}

/** Reads where an account stands; one that was never used is free and has nothing. */
export const readBalance: Command<{ accountId: string }, AccountBalance> = async (db, { accountId }, now) => {
  const account = await db
    .selectFrom('account')
    .where('id', '=', accountId)
    .select(['tier', 'posted_credits', 'held_credits', 'period_start_ms', 'period_end_ms'])
    .executeTakeFirst()
  const { now_ms: nowMs } = await db.selectNoFrom(now.as('now_ms')).executeTakeFirstOrThrow()
  const tier = account?.tier ?? 'free'
  const periodEndMs = account?.period_end_ms ?? null
  const period = periodOf({ tier, periodStartMs: account?.period_start_ms ?? null, periodEndMs }, nowMs)
  const calls = await db
    .selectFrom('call_window')
    .where('account_id', '=', accountId)
    .where('window_id', '=', period.windowId)
    .select(['settled_calls', 'held_calls'])
    .executeTakeFirst()
  return {
    tier,
    credits: (account?.posted_credits ?? 0) - (account?.held_credits ?? 0),
    periodEndMs,
    period,
    usedCalls: (calls?.settled_calls ?? 0) + (calls?.held_calls ?? 0),
  }
}

import { type PlanPeriod, periodOf, type Tier } from '../../../core/money/plans.ts'
import type { Command } from '../engine/command.ts'

/** The balance of an account. */
export interface AccountBalance {
  readonly tier: Tier
  /** Credits that may still be spent, without those held for in-flight requests. */
  readonly credits: number
  /** End of the paid period, in milliseconds since 1970, if known. */
  readonly periodEndMs: number | null
  /** The current period of its calls. */
  readonly period: PlanPeriod
  /** Calls of this period: answered, or in flight. */
  readonly usedCalls: number
}

/** Reads an account's balance; an unused account is free and empty. */
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

import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { CallEnd, CallEndOutcome } from '../../../core/ports/calls.ts'
import type { Command, Moment } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { lockCredits, releaseCredits } from './account-credits.ts'
import { changeCalls } from './call-window.ts'
import { enter } from './entries.ts'
import type { CreditHoldTable } from './schema.ts'

/** Time for which an ended hold is kept, to distinguish a repeated end from one of an unknown hold. */
export const ENDED_KEPT_MS = 24 * 60 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000

/** Ends holds: answered calls are counted and charged, the rest is released. The first end of a hold counts. */
export const endCalls: Command<readonly CallEnd[], CallEndOutcome[]> = async (db, ends, now) => {
  const outcomes = new Map<CallEnd, CallEndOutcome>()
  for (const end of inLockOrder(ends)) outcomes.set(end, await endOne(db, end, now))
  return ends.map((end) => outcomes.get(end) ?? 'unknown')
}

/** Sorts ends in the one order in which accounts are locked, which prevents deadlocks. */
function inLockOrder(ends: readonly CallEnd[]): CallEnd[] {
  const keyOf = ({ accountId, holdId }: CallEnd): string => `${accountId} ${holdId}`
  return ends.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

async function endOne(db: Kysely<Database>, { holdId, usedCalls }: CallEnd, now: Moment): Promise<CallEndOutcome> {
  if (!Number.isSafeInteger(usedCalls) || usedCalls < 0)
    throw new GatewayError('internal_error', `Expected a whole number of calls from 0, got ${usedCalls}.`)
  const [hold] = await endHold(db, { holdId, usedCalls }, now)
  if (hold === undefined) return (await isKnown(db, holdId)) ? 'repeated' : 'unknown'
  // After its lease its hold was released already.
  const isLate = hold.previous_state === 'expired'
  const heldCalls = isLate ? 0 : -hold.calls
  await changeCalls(db, keyOf(hold), { settledCalls: hold.used_calls, heldCalls })
  if (hold.call_credits > 0) await charge(db, { hold, isLate }, now)
  if (isLate) return 'late'
  return hold.state === 'posted' ? 'posted' : 'voided'
}

interface Ended {
  readonly hold: Pick<CreditHoldTable, 'id' | 'account_id' | 'calls' | 'call_credits' | 'used_calls'>
  readonly isLate: boolean
}

/** Charges the calls as far as credits are available: always, unless the hold had expired. The rest is recorded as owed. */
async function charge(db: Kysely<Database>, { hold, isLate }: Ended, now: Moment): Promise<void> {
  const { id, account_id: accountId, calls, call_credits: callCredits, used_calls: usedCalls } = hold
  const { postedCredits, heldCredits } = isLate
    ? await lockCredits(db, accountId)
    : await releaseCredits(db, accountId, calls * callCredits)
  if (usedCalls === 0) return
  const owedCredits = usedCalls * callCredits
  const chargedCredits = Math.min(owedCredits, postedCredits - heldCredits)
  if (chargedCredits > 0) {
    await enter(db, { accountId, kind: 'calls', credits: -chargedCredits, idem: `hold:${id}` }, now)
    await setCharged(db, { id, chargedCredits })
  }
  await addOverage(db, { accountId, usedCalls, chargedCredits, shortfallCredits: owedCredits - chargedCredits }, now)
}

/** Ends a hold; everything is owed until it is charged. */
const endHold = statement(['holdId', 'usedCalls'], (db, given: Places<{ holdId: string; usedCalls: number }>, now) =>
  db
    .updateTable('credit_hold')
    .set((of) => ({
      previous_state: of.ref('state'),
      state: sql`case when ${given.usedCalls} > 0 then 'posted' else 'voided' end`,
      used_calls: given.usedCalls,
      shortfall_credits: sql`${given.usedCalls} * call_credits`,
      due_at_ms: sql`${now} + ${sql.lit(ENDED_KEPT_MS)}`,
    }))
    .where('id', '=', given.holdId)
    .where('state', 'in', ['open', 'expired'])
    .returning(['id', 'account_id', 'window_id', 'state', 'previous_state', 'calls', 'call_credits', 'used_calls']),
)

const setCharged = statement(['id', 'chargedCredits'], (db, given: Places<{ id: string; chargedCredits: number }>) =>
  db
    .updateTable('credit_hold')
    .set((of) => ({
      charged_credits: given.chargedCredits,
      shortfall_credits: of('shortfall_credits', '-', given.chargedCredits),
    }))
    .where('id', '=', given.id)
    .returning('id'),
)

interface Overage {
  readonly accountId: string
  readonly usedCalls: number
  readonly chargedCredits: number
  readonly shortfallCredits: number
}

/** Counts calls beyond the quota in the hour of their end: an hour that is over, and a command’s time-out, changes no more. */
const addOverage = statement(
  ['accountId', 'usedCalls', 'chargedCredits', 'shortfallCredits'],
  (db, given: Places<{ [Name in keyof Overage]: Overage[Name] }>, now) =>
    db
      .insertInto('overage_hour')
      .values({
        account_id: given.accountId,
        hour_ms: sql`${now} - ${now} % ${sql.lit(HOUR_MS)}`,
        calls: given.usedCalls,
        charged_credits: given.chargedCredits,
        shortfall_credits: given.shortfallCredits,
      })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'hour_ms']).doUpdateSet((of) => ({
          calls: of('overage_hour.calls', '+', of.ref('excluded.calls')),
          charged_credits: of('overage_hour.charged_credits', '+', of.ref('excluded.charged_credits')),
          shortfall_credits: of('overage_hour.shortfall_credits', '+', of.ref('excluded.shortfall_credits')),
        })),
      )
      .returning('hour_ms'),
)

async function isKnown(db: Kysely<Database>, holdId: string): Promise<boolean> {
  const row = await db.selectFrom('credit_hold').select('id').where('id', '=', holdId).executeTakeFirst()
  return row !== undefined
}

function keyOf(hold: Pick<CreditHoldTable, 'account_id' | 'window_id'>) {
  return { accountId: hold.account_id, windowId: hold.window_id }
}

import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { feeOf, type PlanHolder, periodOf } from '../../../core/money/plans.ts'
import type { CallOrder, CallReservation } from '../../../core/ports/calls.ts'
import { type Command, type Moment, Undo } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { holdCredits, releaseCredits } from './account-credits.ts'
import { changeCalls, holdCalls } from './call-window.ts'

/** Holds calls and their credits, or returns the reason for a refusal. The same hold again renews its lease. */
export const takeCalls: Command<CallOrder, CallReservation> = async (db, order, now) => {
  const result = await holdOrder(db, order, now)
  if (!result.ok) throw new Undo(result)
  return result
}

/** Does the same within another command. After a refusal the caller must undo its own work. */
export async function holdOrder(db: Kysely<Database>, order: CallOrder, now: Moment): Promise<CallReservation> {
  const { holdId, accountId, calls, plans, leaseMs } = order
  if (!Number.isSafeInteger(calls) || calls < 1)
    throw new GatewayError('internal_error', `Expected a whole number of calls from 1, got ${calls}.`)
  const [found] = await findAccount(db, { holdId, accountId }, now)
  if (found === undefined) throw new GatewayError('internal_error', `The account ${accountId} is unknown.`)
  if (found.state !== null) return renew(db, { holdId, leaseMs }, now)
  const holder: PlanHolder = {
    tier: found.tier,
    periodStartMs: found.period_start_ms,
    periodEndMs: found.period_end_ms,
  }
  const period = periodOf(holder, found.now_ms)
  const key = { accountId, windowId: period.windowId }
  const usedCalls = (await holdCalls(db, key, calls)) - calls
  const plan = plans[holder.tier]
  const callCredits = feeOf(plan, usedCalls)
  if (callCredits === undefined || feeOf(plan, usedCalls + calls - 1) !== callCredits) {
    const { includedCalls } = plan
    return { ok: false, refused: { reason: 'calls', tier: holder.tier, includedCalls, resetsAtMs: period.endsAtMs } }
  }
  const neededCredits = calls * callCredits
  if (neededCredits > 0) {
    const freeCredits = await holdCredits(db, accountId, neededCredits)
    if (freeCredits !== undefined)
      return { ok: false, refused: { reason: 'credits', tier: holder.tier, neededCredits, freeCredits } }
  }
  const entered = await insertHold(db, { holdId, ...key, calls, callCredits, leaseMs }, now)
  if (entered.length > 0) return { ok: true, callCredits }
  // The same hold was requested concurrently, and the other request has it.
  await changeCalls(db, key, { settledCalls: 0, heldCalls: -calls })
  if (neededCredits > 0) await releaseCredits(db, accountId, neededCredits)
  return renew(db, { holdId, leaseMs }, now)
}

async function renew(
  db: Kysely<Database>,
  given: { holdId: string; leaseMs: number },
  now: Moment,
): Promise<CallReservation> {
  const [hold] = await renewLease(db, given, now)
  if (hold !== undefined) return { ok: true, callCredits: hold.call_credits }
  throw new GatewayError('internal_error', `The calls of ${given.holdId} have ended.`)
}

const findAccount = statement(
  ['holdId', 'accountId'],
  (db, given: Places<{ holdId: string; accountId: string }>, now) =>
    db
      .selectFrom('account')
      .leftJoin('credit_hold', (join) => join.on('credit_hold.id', '=', given.holdId))
      .where('account.id', '=', given.accountId)
      .select(['tier', 'period_start_ms', 'period_end_ms', 'credit_hold.state', now.as('now_ms')]),
)

const renewLease = statement(['holdId', 'leaseMs'], (db, given: Places<{ holdId: string; leaseMs: number }>, now) =>
  db
    .updateTable('credit_hold')
    .set({ due_at_ms: sql`${now} + ${given.leaseMs}` })
    .where('id', '=', given.holdId)
    .where('state', '=', 'open')
    .returning('call_credits'),
)

interface NewHold {
  readonly holdId: string
  readonly accountId: string
  readonly windowId: string
  readonly calls: number
  readonly callCredits: number
  readonly leaseMs: number
}

const insertHold = statement(
  ['holdId', 'accountId', 'windowId', 'calls', 'callCredits', 'leaseMs'],
  (db, given: Places<{ [Name in keyof NewHold]: NewHold[Name] }>, now) =>
    db
      .insertInto('credit_hold')
      .values({
        id: given.holdId,
        account_id: given.accountId,
        window_id: given.windowId,
        state: 'open',
        previous_state: 'open',
        calls: given.calls,
        call_credits: given.callCredits,
        used_calls: 0,
        charged_credits: 0,
        shortfall_credits: 0,
        due_at_ms: sql`${now} + ${given.leaseMs}`,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id'),
)

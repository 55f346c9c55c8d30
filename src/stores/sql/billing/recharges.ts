import { type Kysely, type Selectable, sql } from 'kysely'
import type { PendingRecharge, RechargeEnd } from '../../../core/ports/billing.ts'
import { ensureAccount } from '../accounts/account.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { switchOff } from './auto-recharge.ts'
import { rememberEvent } from './fetches.ts'
import { giveCredits } from './payments.ts'
import type { RechargeTable } from './schema.ts'

/** Lease of a claimed recharge. */
const LEASE_MS = 60_000
/** Longest wait between two tries. */
const LONGEST_WAIT_MS = 60 * 60_000
const MOST_AT_ONCE = 20

/** Claims a recharge of an account; exactly one of several concurrent callers gets it. */
export const claimRecharge: Command<
  { accountId: string; rechargeId: string; monthStartMs: number },
  PendingRecharge | undefined
> = async (db, { accountId, rechargeId, monthStartMs }, now) => {
  // Locks the row: claims of one account are made one after another.
  const settings = await db
    .updateTable('auto_recharge')
    .set((of) => ({ enabled: of.ref('enabled') }))
    .where('account_id', '=', accountId)
    .where('enabled', '=', 1)
    .returningAll()
    .executeTakeFirst()
  if (settings === undefined) return undefined
  const account = await db.selectFrom('account').selectAll().where('id', '=', accountId).executeTakeFirst()
  if (account === undefined || account.tier === 'free') return undefined
  if (account.posted_credits - account.held_credits >= settings.threshold_credits) return undefined
  const bought = await boughtSince(db, accountId, monthStartMs)
  if (bought + settings.amount_credits > settings.monthly_limit_credits) return undefined
  const claimed = await db
    .insertInto('recharge')
    .values((of) => ({
      id: rechargeId,
      account_id: accountId,
      credits: settings.amount_credits,
      state: 'pending' as const,
      customer_id: null,
      payment_method_id: null,
      reason: null,
      attempts: 1,
      next_at_ms: of(now, '+', LEASE_MS),
      created_at_ms: now,
    }))
    // As text: a parameter would not be found to be the index’s own condition.
    .onConflict((conflict) => conflict.column('account_id').where(sql<boolean>`state = 'pending'`).doNothing())
    .returningAll()
    .executeTakeFirst()
  return claimed && toPending(claimed)
}

async function boughtSince(db: Kysely<Database>, accountId: string, sinceMs: number): Promise<number> {
  const { credits } = await db
    .selectFrom('recharge')
    .select(sql<number>`coalesce(sum(credits), 0)`.as('credits'))
    .where('account_id', '=', accountId)
    .where('created_at_ms', '>=', sinceMs)
    .where('state', '!=', 'failed')
    .executeTakeFirstOrThrow()
  return Number(credits)
}

/** Claims stale pending recharges. Each try doubles the wait before the next. */
export const takeStaleRecharges: Command<null, PendingRecharge[]> = async (db, _, now) => {
  const stale = await db
    .selectFrom('recharge')
    .selectAll()
    .where('state', '=', 'pending')
    .where('next_at_ms', '<=', now)
    .orderBy('next_at_ms')
    .limit(MOST_AT_ONCE)
    .execute()
  const taken: PendingRecharge[] = []
  for (const { id, attempts, next_at_ms } of stale) {
    const waitMs = Math.min(LEASE_MS * 2 ** attempts, LONGEST_WAIT_MS)
    const row = await db
      .updateTable('recharge')
      .set((of) => ({ attempts: of('attempts', '+', 1), next_at_ms: of(now, '+', waitMs) }))
      .where('id', '=', id)
      .where('state', '=', 'pending')
      // No other instance has taken it since it was read.
      .where('next_at_ms', '=', next_at_ms)
      .returningAll()
      .executeTakeFirst()
    if (row !== undefined) taken.push(toPending(row))
  }
  return taken
}

interface Means {
  customerId: string
  paymentMethodId: string
}

/** Fixes the customer and card of a recharge; the first call counts. */
export const fixRecharge: Command<Means & { id: string }, Means> = async (db, { id, customerId, paymentMethodId }) => {
  const row = await db
    .updateTable('recharge')
    .set((of) => ({
      customer_id: of.fn.coalesce('customer_id', of.val(customerId)),
      payment_method_id: of.fn.coalesce('payment_method_id', of.val(paymentMethodId)),
    }))
    .where('id', '=', id)
    .returning(['customer_id', 'payment_method_id'])
    .executeTakeFirstOrThrow()
  return { customerId: row.customer_id ?? customerId, paymentMethodId: row.payment_method_id ?? paymentMethodId }
}

/**
 * Ends a recharge; idempotent. A payment that succeeded counts whatever was recorded before, also when
 * the row is gone (a restored backup): the money is there. A failed one disables auto-recharge, so that nothing loops.
 */
export const endRecharge: Command<{ end: RechargeEnd; eventId?: string | undefined }, void> = async (
  db,
  { end, eventId },
  now,
) => {
  await rememberEvent(db, eventId, now)
  await (end.outcome === 'failed' ? fail(db, end, now) : succeed(db, end, now))
}

async function fail(db: Kysely<Database>, { id, reason = 'payment_failed' }: RechargeEnd, now: Moment): Promise<void> {
  const failed = await db
    .updateTable('recharge')
    .set({ state: 'failed', reason })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .returning('account_id')
    .executeTakeFirst()
  if (failed !== undefined) await switchOff(db, { accountId: failed.account_id, reason, cause: `recharge:${id}` }, now)
}

async function succeed(db: Kysely<Database>, { id, accountId, credits }: RechargeEnd, now: Moment): Promise<void> {
  await ensureAccount(db, accountId, now)
  const ended = await db
    .insertInto('recharge')
    .values({
      id,
      account_id: accountId,
      credits,
      state: 'succeeded',
      customer_id: null,
      payment_method_id: null,
      reason: null,
      attempts: 1,
      next_at_ms: now,
      created_at_ms: now,
    })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ state: 'succeeded', reason: null })
        .where('recharge.state', '!=', 'succeeded'),
    )
    .returningAll()
    .executeTakeFirst()
  if (ended === undefined) return
  const paymentId = `recharge:${id}`
  await giveCredits(db, { paymentId, accountId: ended.account_id, credits: ended.credits, kind: 'recharge' }, now)
}

function toPending(row: Selectable<RechargeTable>): PendingRecharge {
  return {
    id: row.id,
    accountId: row.account_id,
    credits: row.credits,
    customerId: row.customer_id,
    paymentMethodId: row.payment_method_id,
    createdAtMs: row.created_at_ms,
  }
}

import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import {
  FREE_LEFT_CALLS,
  type LeftCall,
  type OpenPaymentState,
  type OverduePayment,
  type PaymentLease,
  type PaymentMove,
  type PaymentState,
} from '../../../core/ports/payments.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/** The allowed transitions. */
const WAYS: Readonly<Record<OpenPaymentState, readonly PaymentState[]>> = {
  claimed: ['authorized', 'captured', 'failed', 'expired'],
  authorized: ['captured', 'failed', 'expired'],
  captured: ['consumed'],
}

/** Batch size of taken-over payments and deleted rows. */
const AT_ONCE = 100
const DAY_MS = 24 * 60 * 60 * 1000
const HOLDS_KEPT_MS = 100 * DAY_MS
/** Challenges of a window live for six minutes at most. */
const WINDOW_KEPT_MS = 60 * 60 * 1000
const OPEN: readonly OpenPaymentState[] = ['claimed', 'authorized', 'captured']

type Ownership = Omit<PaymentLease, 'leaseMs'>

/** Begins an update of a payment that the caller still owns: the fence counts the owners so far. */
function updateOwned(db: Kysely<Database>, { challengeId, owner, fence }: Ownership) {
  return db.updateTable('payment').where('id', '=', challengeId).where('owner', '=', owner).where('fence', '=', fence)
}

/** Moves a payment to its next state, if the caller still owns it. */
export const movePayment: Command<PaymentMove, boolean> = async (db, move, now) => {
  const { from, to, reference } = move
  if (!WAYS[from].includes(to)) throw new GatewayError('internal_error', `A payment cannot go from ${from} to ${to}.`)
  const isEnd = to === 'consumed' || to === 'failed' || to === 'expired'
  const moved = await updateOwned(db, move)
    .set((of) => ({
      state: to,
      reference: reference ?? of.ref('reference'),
      ...(to === 'captured' && { captured_at_ms: now, due_at_ms: null }),
      ...(isEnd && { ended_at_ms: now, due_at_ms: null, lease_until_ms: 0 }),
    }))
    .where('state', '=', from)
    .returning('id')
    .executeTakeFirst()
  return moved !== undefined
}

/** Renews the ownership of a payment. */
export const renewPayment: Command<PaymentLease, boolean> = async (db, lease, now) => {
  const renewed = await updateOwned(db, lease)
    .set({ lease_until_ms: sql`${now} + ${lease.leaseMs}` })
    .where('state', 'in', OPEN)
    .returning('id')
    .executeTakeFirst()
  return renewed !== undefined
}

/** Releases a payment. */
export const releasePayment: Command<Ownership, void> = async (db, ownership) => {
  await updateOwned(db, ownership).set({ lease_until_ms: 0 }).execute()
}

/** Counts a client disconnect, and releases the payment or keeps it to be consumed, in one statement. */
export const leavePayment: Command<Ownership, LeftCall> = async (db, ownership) => {
  const left = await updateOwned(db, ownership)
    .set((of) => ({
      left_calls: of('left_calls', '+', 1),
      lease_until_ms: sql`case when left_calls < ${sql.lit(FREE_LEFT_CALLS)} then 0 else lease_until_ms end`,
    }))
    .where('state', 'in', OPEN)
    .returning('left_calls')
    .executeTakeFirst()
  return left !== undefined && left.left_calls > FREE_LEFT_CALLS ? 'delivered' : 'given-back'
}

/** Takes over overdue payments, the longest waiting first. */
export const takeOverduePayments: Command<{ owner: string; leaseMs: number }, OverduePayment[]> = async (
  db,
  { owner, leaseMs },
  now,
) => {
  const due = await db
    .selectFrom('payment')
    .select('id')
    .where('due_at_ms', '<=', now)
    .where('lease_until_ms', '<=', now)
    .orderBy('due_at_ms')
    .limit(AT_ONCE)
    .execute()
  if (due.length === 0) return []
  // Checks again on the locked rows: another instance may have taken them since they were selected.
  const taken = await db
    .updateTable('payment')
    .set((of) => ({ owner, fence: of('fence', '+', 1), lease_until_ms: sql`${now} + ${leaseMs}` }))
    .where('id', 'in', due.map(({ id }) => id).sort())
    .where('due_at_ms', '<=', now)
    .where('lease_until_ms', '<=', now)
    .returning(['id', 'fence', 'state', 'settlement', 'reference', 'due_at_ms'])
    .execute()
  return taken.map(({ id, fence, state, settlement, reference, due_at_ms }) => ({
    challengeId: id,
    owner,
    fence,
    // The cast is safe: an ended or captured payment is never due.
    state: state as OpenPaymentState,
    settlement,
    reference: reference ?? undefined,
    dueAtMs: due_at_ms ?? 0,
  }))
}

/** Records a window; returns the current time. */
export const openPaymentWindow: Command<{ windowId: string }, number> = async (db, { windowId }, now) => {
  const { opened_at_ms } = await db
    .insertInto('payment_window')
    .values({ id: windowId, opened_at_ms: now })
    .returning('opened_at_ms')
    .executeTakeFirstOrThrow()
  return opened_at_ms
}

/**
 * Deletes old windows, and payments without a charge: a day later, or after a hundred days where money was held, which
 * card, and is reported. Returns how many, at most 200.
 */
export const prunePayments: Command<undefined, number> = async (db, _, now) => {
  const windows = await db
    .deleteFrom('payment_window')
    .where('id', 'in', (from) =>
      from
        .selectFrom('payment_window')
        .select('id')
        .where('opened_at_ms', '<', sql<number>`${now} - ${sql.lit(WINDOW_KEPT_MS)}`)
        .limit(AT_ONCE),
    )
    .executeTakeFirstOrThrow()
  const payments = await db
    .deleteFrom('payment')
    .where('id', 'in', (from) =>
      from
        .selectFrom('payment')
        .select('id')
        .where('state', 'in', ['failed', 'expired'])
        .where('ended_at_ms', '<', sql<number>`${now} - ${sql.lit(DAY_MS)}`)
        .where((is) =>
          is.or([is('reference', 'is', null), is('ended_at_ms', '<', sql<number>`${now} - ${sql.lit(HOLDS_KEPT_MS)}`)]),
        )
        .limit(AT_ONCE),
    )
    .executeTakeFirstOrThrow()
  return Number(windows.numDeletedRows + payments.numDeletedRows)
}

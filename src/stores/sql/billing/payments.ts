import type { Kysely } from 'kysely'
import type { Fetch, FetchedInvoice, FetchedPayment, FetchedReversal } from '../../../core/ports/billing.ts'
import { ensureAccount } from '../accounts/account.ts'
import { appendEntry, moveAvailable } from '../credits/entries.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { switchOff } from './auto-recharge.ts'
import { rememberEvent } from './fetches.ts'
import { settleProrations } from './prorations.ts'
import type { BillingPaymentTable } from './schema.ts'

/** Grants the credits of an invoice, once, and takes back those for which prorations have returned money. */
export const applyPayment: Command<{ payment: FetchedInvoice; eventId?: string | undefined }, void> = async (
  db,
  { payment, eventId },
  now,
) => {
  await rememberEvent(db, eventId, now)
  if (await giveCredits(db, { ...payment, kind: 'grant' }, now)) await settleProrations(db, payment, now)
}

/** Grants the credits of a payment; returns `false` when they were granted before. For commands, whose transaction it joins. */
export async function giveCredits(
  db: Kysely<Database>,
  { paymentId, accountId, credits, kind }: FetchedPayment & { kind: string },
  now: Moment,
): Promise<boolean> {
  await ensureAccount(db, accountId, now)
  const inserted = await db
    .insertInto('billing_payment')
    .values({
      id: paymentId,
      account_id: accountId,
      credits,
      due_credits: 0,
      taken_credits: 0,
      disputed: 0,
      applied_ticket: 0,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted === undefined) return false
  if (credits > 0) await appendEntry(db, { accountId, kind, credits, idem: paymentId, now })
  return true
}

/**
 * Takes back the credits of a refund or dispute, or returns those of a dispute that was won. Credits that are spent
 * already cannot be taken and are not owed. A first dispute disables auto-recharge.
 */
export const applyReversal: Command<{ reversal: FetchedReversal; fetch: Fetch }, void> = async (
  db,
  { reversal: { paymentId, share, isDisputed }, fetch: { ticket, eventId } },
  now,
) => {
  await rememberEvent(db, eventId, now)
  const payment = await db
    .updateTable('billing_payment')
    .set({ applied_ticket: ticket })
    .where('id', '=', paymentId)
    .where('applied_ticket', '<', ticket)
    .returningAll()
    .executeTakeFirst()
  if (payment === undefined) return
  const dueCredits = Math.min(payment.credits, Math.ceil(payment.credits * share))
  const takenCredits = await moveCredits(db, { payment, dueCredits, ticket }, now)
  const disputed = payment.disputed === 1 || isDisputed ? 1 : 0
  await db
    .updateTable('billing_payment')
    .set({ due_credits: dueCredits, taken_credits: takenCredits, disputed })
    .where('id', '=', paymentId)
    .execute()
  if (isDisputed && payment.disputed === 0)
    await switchOff(db, { accountId: payment.account_id, reason: 'payment_disputed', cause: paymentId }, now)
}

/** Moves the credits due since the last time; returns the total taken of the payment's credits. */
async function moveCredits(
  db: Kysely<Database>,
  { payment, dueCredits, ticket }: { payment: BillingPaymentTable; dueCredits: number; ticket: number },
  now: Moment,
): Promise<number> {
  const { id, account_id: accountId, due_credits: wasDue, taken_credits: taken } = payment
  const credits = dueCredits > wasDue ? wasDue - dueCredits : Math.max(0, taken - dueCredits)
  if (credits === 0) return taken
  const idem = `reversal:${id}:${ticket}`
  return taken - (await moveAvailable(db, { accountId, kind: 'reversal', credits, idem, now }))
}

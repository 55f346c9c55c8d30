import type { Kysely } from 'kysely'
import type { FoundPayment, Reconciled } from '../../../core/ports/payments.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { PaymentTable } from './schema.ts'

/**
 * DESIGN — the provider's state is final
 *
 * The payment provider's state is final: money that it has taken is captured here too, and money that it holds without a
 * payment is released. Its state is fetched, never read from an event. An in-flight payment is left to its owner; only its
 * id is recorded, so that it need not be searched for after a crash.
 */
const NO_OWNER = 'reconciliation'
const UNKNOWN = 'unknown'

/** Records the payment provider's state of a payment. */
export const reconcilePayment: Command<FoundPayment, Reconciled> = async (db, found, now) => {
  const row = await db
    .selectFrom('payment')
    .select(['state', 'reference', 'amount_cents', 'currency'])
    .where('id', '=', found.challengeId)
    .executeTakeFirst()
  if (row === undefined) return reconcileUnknown(db, found, now)
  if (!isSame(row, found)) return 'disagrees'
  switch (row.state) {
    case 'claimed':
      return (await note(db, found)) ? 'noted' : 'agrees'
    case 'authorized':
      return 'agrees'
    case 'captured':
    case 'consumed':
      return found.standing === 'captured' ? 'agrees' : 'disagrees'
    case 'failed':
    case 'expired':
      if (found.standing === 'captured') return (await recover(db, found, now)) ? 'recovered' : 'agrees'
      return found.standing === 'held' ? 'to-release' : 'agrees'
  }
}

function isSame(
  { reference, amount_cents, currency }: Pick<PaymentTable, 'reference' | 'amount_cents' | 'currency'>,
  found: FoundPayment,
): boolean {
  const isNamed = reference === null || reference === found.reference
  return isNamed && amount_cents === found.amountCents && currency === found.currency
}

async function note(db: Kysely<Database>, { challengeId, reference, standing }: FoundPayment): Promise<boolean> {
  if (standing !== 'held' && standing !== 'captured') return false
  const noted = await db
    .updateTable('payment')
    .set({ reference })
    .where('id', '=', challengeId)
    .where('state', '=', 'claimed')
    .where('reference', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return noted !== undefined
}

/** Recovers a payment that was given up here although its money is taken: its payer can receive the reply. */
async function recover(db: Kysely<Database>, { challengeId, reference }: FoundPayment, now: Moment): Promise<boolean> {
  const recovered = await db
    .updateTable('payment')
    .set({ state: 'captured', reference, captured_at_ms: now, ended_at_ms: null, due_at_ms: null, lease_until_ms: 0 })
    .where('id', '=', challengeId)
    .where('state', 'in', ['failed', 'expired'])
    .returning('id')
    .executeTakeFirst()
  return recovered !== undefined
}

/** Records a payment unknown after a loss or restore of the database: its money stays in the books, without a payer. */
async function reconcileUnknown(db: Kysely<Database>, found: FoundPayment, now: Moment): Promise<Reconciled> {
  if (found.standing === 'held') return 'to-release'
  if (found.standing !== 'captured') return 'agrees'
  const { challengeId, reference, amountCents, currency, settlement } = found
  const adopted = await db
    .insertInto('payment')
    .values({
      id: challengeId,
      state: 'captured',
      token_hash: UNKNOWN,
      amount_cents: amountCents,
      currency,
      settlement,
      route: UNKNOWN,
      model: UNKNOWN,
      reference,
      owner: NO_OWNER,
      fence: 1,
      lease_until_ms: 0,
      due_at_ms: null,
      captured_at_ms: now,
      ended_at_ms: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return adopted === undefined ? 'disagrees' : 'adopted'
}

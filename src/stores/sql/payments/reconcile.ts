import type { Kysely } from 'kysely'
import type { FoundPayment, Reconciled } from '../../../core/ports/payments.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { PaymentTable } from './schema.ts'

/**
 * DESIGN — whose word counts
 *
 * The payment provider's word on money is final: what it has taken is captured here too, and what it holds for nobody is to
 * be let go. What it says is fetched, never read off an event. A payment that somebody works on is left to them; only its
 * name is noted, so that it need not be searched for when they have died.
 */
const NOBODY = 'reconciliation'
const UNKNOWN = 'unknown'

/** Writes down what the payment provider has. */
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

/** Money that was given up here is taken: its payer can have the answer. */
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

/** Of a database that was lost, or restored: what is taken stays in the books, though nobody can be told to be its payer. */
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
      owner: NOBODY,
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

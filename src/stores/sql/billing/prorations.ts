import type { Kysely } from 'kysely'
import type { FetchedInvoice } from '../../../core/ports/billing.ts'
import { lockCredits } from '../credits/account-credits.ts'
import { moveAvailable } from '../credits/entries.ts'
import type { Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/**
 * Adds an invoice's prorations to those of its account, and takes back the credits for which they have returned money in
 * total. Spent credits are taken from those of later invoices; credits that a later invoice charges for are returned. So the
 * order of invoices makes no difference. For commands, whose transaction it joins, once for each invoice.
 */
export async function settleProrations(
  db: Kysely<Database>,
  { paymentId, accountId, proratedCredits }: FetchedInvoice,
  now: Moment,
): Promise<void> {
  // From here on the account's invoices wait for each other.
  await lockCredits(db, accountId)
  const { net_credits: net, taken_credits: taken } = await db
    .insertInto('billing_proration')
    .values({ account_id: accountId, net_credits: proratedCredits, taken_credits: 0 })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((of) => ({
        net_credits: of('billing_proration.net_credits', '+', of.ref('excluded.net_credits')),
      })),
    )
    .returning(['net_credits', 'taken_credits'])
    .executeTakeFirstOrThrow()
  const credits = taken - Math.max(0, -net)
  if (credits === 0) return
  const idem = `proration:${paymentId}`
  const moved = await moveAvailable(db, { accountId, kind: 'reversal', credits, idem, now })
  await db
    .updateTable('billing_proration')
    .set({ taken_credits: taken - moved })
    .where('account_id', '=', accountId)
    .execute()
}

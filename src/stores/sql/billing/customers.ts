import type { Balance, Customer } from '../../../core/ports/billing.ts'
import { ensureAccount } from '../accounts/account.ts'
import type { Command } from '../engine/command.ts'
import { switchOff } from './auto-recharge.ts'
import { rememberEvent } from './fetches.ts'

/** Reads the balance as shown to an account's owner; an unknown account is free and empty. */
export const readBalance: Command<string, Balance> = async (db, accountId) => {
  const account = await db.selectFrom('account').selectAll().where('id', '=', accountId).executeTakeFirst()
  const set = await db.selectFrom('auto_recharge').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  return {
    tier: account?.tier ?? 'free',
    credits: (account?.posted_credits ?? 0) - (account?.held_credits ?? 0),
    periodEndMs: account?.period_end_ms ?? null,
    autoRecharge: set && {
      enabled: set.enabled === 1,
      thresholdCredits: set.threshold_credits,
      amountCredits: set.amount_credits,
      monthlyLimitCredits: set.monthly_limit_credits,
      disabledReason: set.disabled_reason,
    },
  }
}

/** Returns an account's customer at the payment provider. */
export const readCustomer: Command<string, Customer> = async (db, accountId) => {
  const row = await db.selectFrom('billing_customer').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  return { customerId: row?.customer_id ?? null, generation: row?.generation ?? 0 }
}

/** Stores an account's customer unless it has one; returns the stored one. */
export const putCustomer: Command<{ accountId: string; customerId: string }, string> = async (
  db,
  { accountId, customerId },
  now,
) => {
  await ensureAccount(db, accountId, now)
  const { customer_id } = await db
    .insertInto('billing_customer')
    .values({ account_id: accountId, customer_id: customerId, generation: 0 })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((of) => ({
        customer_id: of.fn.coalesce('billing_customer.customer_id', 'excluded.customer_id'),
      })),
    )
    .returning('customer_id')
    .executeTakeFirstOrThrow()
  return customer_id ?? customerId
}

/** Returns the account of a customer. */
export const findAccount: Command<string, string | undefined> = async (db, customerId) => {
  const row = await db
    .selectFrom('billing_customer')
    .select('account_id')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row?.account_id
}

/** Removes a customer that was deleted at the provider: nothing can be charged any more. */
export const forgetCustomer: Command<{ customerId: string; eventId?: string | undefined }, void> = async (
  db,
  { customerId, eventId },
  now,
) => {
  await rememberEvent(db, eventId, now)
  const row = await db
    .updateTable('billing_customer')
    .set((of) => ({ customer_id: null, generation: of('generation', '+', 1) }))
    .where('customer_id', '=', customerId)
    .returning('account_id')
    .executeTakeFirst()
  if (row === undefined) return
  await switchOff(db, { accountId: row.account_id, reason: 'customer_deleted', cause: customerId }, now)
}

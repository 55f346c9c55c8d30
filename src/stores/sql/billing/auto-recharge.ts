import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { AutoRecharge } from '../../../core/ports/billing.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/** Sets an account's auto-recharge. Enabling it clears the gateway's reason for disabling it. */
export const setAutoRecharge: Command<
  { accountId: string; settings: Omit<AutoRecharge, 'disabledReason'>; noteId: string },
  void
> = async (db, { accountId, settings, noteId }, now) => {
  const account = await db.selectFrom('account').select('tier').where('id', '=', accountId).executeTakeFirst()
  if (settings.enabled && (account?.tier ?? 'free') === 'free')
    throw new GatewayError('invalid_request', 'Recharging needs a paid plan: start with POST /v1/billing/checkout.')
  const values = {
    enabled: settings.enabled ? 1 : 0,
    threshold_credits: settings.thresholdCredits,
    amount_credits: settings.amountCredits,
    monthly_limit_credits: settings.monthlyLimitCredits,
    disabled_reason: null,
  }
  await db
    .insertInto('auto_recharge')
    .values({ account_id: accountId, ...values })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
    .execute()
  const by = { actor: `user:${accountId}`, action: 'auto-recharge.set', subject: accountId }
  await appendAudit(db, { id: noteId, accountId, ...by, details: { ...settings } }, now)
}

/** Disables an account's auto-recharge with a reason, once for each cause; for commands, whose transaction it joins. */
export async function switchOff(
  db: Kysely<Database>,
  { accountId, reason, cause }: { accountId: string; reason: string; cause: string },
  now: Moment,
): Promise<void> {
  const row = await db
    .updateTable('auto_recharge')
    .set({ enabled: 0, disabled_reason: reason })
    .where('account_id', '=', accountId)
    .where('enabled', '=', 1)
    .returning('account_id')
    .executeTakeFirst()
  if (row === undefined) return
  const by = { actor: 'stripe', action: 'auto-recharge.switched-off', subject: accountId }
  await appendAudit(db, { id: `auto-recharge:${cause}`, accountId, ...by, details: { reason } }, now)
}

const MOST_AT_ONCE = 50

/** Returns accounts with credits below their threshold and no recharge in flight. */
export const belowThreshold: Command<null, string[]> = async (db) => {
  const rows = await db
    .selectFrom('auto_recharge')
    .innerJoin('account', 'account.id', 'auto_recharge.account_id')
    .select('auto_recharge.account_id')
    .where('enabled', '=', 1)
    .where('tier', '!=', 'free')
    .where((is) => is(is('posted_credits', '-', is.ref('held_credits')), '<', is.ref('threshold_credits')))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('recharge')
            .select('recharge.id')
            .whereRef('recharge.account_id', '=', 'auto_recharge.account_id')
            .where('recharge.state', '=', 'pending'),
        ),
      ),
    )
    .orderBy('auto_recharge.account_id')
    .limit(MOST_AT_ONCE)
    .execute()
  return rows.map(({ account_id }) => account_id)
}

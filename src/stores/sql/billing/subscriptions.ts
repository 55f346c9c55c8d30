import type { Kysely } from 'kysely'
import type { AccountTier, Fetch, FetchedSubscription } from '../../../core/ports/billing.ts'
import { ensureAccount } from '../accounts/account.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { rememberEvent } from './fetches.ts'

/** Statuses whose plan is served. `past_due`: while the provider still tries to collect. */
const SERVED = ['active', 'trialing', 'past_due']
/** Statuses of a subscription that can become a served one again without a new checkout. */
const LIVE = [...SERVED, 'unpaid', 'paused']

/** Returns subscriptions of an account that are paid for or could be again. */
export const liveSubscriptions: Command<string, string[]> = async (db, accountId) => {
  const rows = await db
    .selectFrom('billing_subscription')
    .select('id')
    .where('account_id', '=', accountId)
    .where('status', 'in', LIVE)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Stores a subscription unless a later fetch has, and sets its account's tier and period. */
export const applySubscription: Command<{ subscription: FetchedSubscription; fetch: Fetch }, void> = async (
  db,
  { subscription, fetch: { ticket, eventId } },
  now,
) => {
  const { id, accountId, status, tier, periodStartMs, periodEndMs } = subscription
  await ensureAccount(db, accountId, now)
  // The account's row is the lock: of two subscriptions that change at once, the second sees the first.
  const { tier: tierBefore } = await db
    .updateTable('account')
    .set((of) => ({ tier: of.ref('tier') }))
    .where('id', '=', accountId)
    .returning('tier')
    .executeTakeFirstOrThrow()
  await rememberEvent(db, eventId, now)
  const fetched = { status, tier, period_start_ms: periodStartMs, period_end_ms: periodEndMs, applied_ticket: ticket }
  await db
    .insertInto('billing_subscription')
    .values({ id, account_id: accountId, ...fetched })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(fetched).where('billing_subscription.applied_ticket', '<', ticket),
    )
    .execute()
  const tierNow = await setTier(db, accountId)
  if (tierNow === tierBefore) return
  const details = { from: tierBefore, to: tierNow }
  const note = { id: `tier:${id}:${ticket}`, accountId, actor: 'stripe', action: 'account.tier-changed', subject: id }
  await appendAudit(db, { ...note, details }, now)
}

/** Sets the best served plan; of two of the same, the one that lasts longer. Returns it. */
async function setTier(db: Kysely<Database>, accountId: string): Promise<AccountTier> {
  const best = await db
    .selectFrom('billing_subscription')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('status', 'in', SERVED)
    // `team` sorts after `pro`.
    .orderBy('tier', 'desc')
    .orderBy('period_end_ms', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  await db
    .updateTable('account')
    .set({
      tier: best?.tier ?? 'free',
      period_start_ms: best?.period_start_ms ?? null,
      period_end_ms: best?.period_end_ms ?? null,
    })
    .where('id', '=', accountId)
    .execute()
  return best?.tier ?? 'free'
}

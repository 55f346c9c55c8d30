import type { CreditEntry, CreditPage } from '../../../core/ports/credit-entries.ts'
import type { Command } from '../engine/command.ts'

/** One more than a page, to know whether there is another. */
const LONGEST_LIST = 501

/** Lists changes of an account's credits, newest first. */
export const listEntries: Command<CreditPage, CreditEntry[]> = async (db, { accountId, after, limit }) => {
  let query = db
    .selectFrom('ledger_entry')
    .select(['seq', 'kind', 'credits', 'posted_after_credits', 'idem', 'created_at_ms'])
    .where('account_id', '=', accountId)
    .orderBy('seq', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (after !== undefined) query = query.where('seq', '<', after)
  const rows = await query.execute()
  return rows.map(({ seq, kind, credits, posted_after_credits, idem, created_at_ms }) => ({
    seq,
    kind,
    credits,
    creditsAfter: posted_after_credits,
    about: idem,
    atMs: created_at_ms,
  }))
}

import type { SettledPage, SettledPayment } from '../../../core/ports/payments.ts'
import type { Command } from '../engine/command.ts'

/** One more than a page, to know whether there is another. */
const LONGEST_LIST = 101

/** Lists captured payments, newest first. */
export const listSettledPayments: Command<SettledPage, SettledPayment[]> = async (db, { before, limit }) => {
  let query = db
    .selectFrom('payment')
    .select(['id', 'captured_at_ms', 'amount_cents', 'currency', 'reference', 'model', 'route', 'state'])
    .where('captured_at_ms', 'is not', null)
    .orderBy('captured_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (before !== undefined)
    query = query.where((is) =>
      is.or([
        is('captured_at_ms', '<', before.capturedAtMs),
        is.and([is('captured_at_ms', '=', before.capturedAtMs), is('id', '<', before.challengeId)]),
      ]),
    )
  const rows = await query.execute()
  return rows.map(({ id, captured_at_ms, amount_cents, currency, reference, model, route, state }) => ({
    challengeId: id,
    capturedAtMs: captured_at_ms ?? 0,
    amountCents: amount_cents,
    currency,
    reference: reference ?? '',
    model,
    route,
    state: state === 'captured' ? 'captured' : 'consumed',
  }))
}

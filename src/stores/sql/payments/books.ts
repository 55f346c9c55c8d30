import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ListedPayment, PaymentPage } from '../../../core/ports/payment-books.ts'
import type { PaymentBook, PaymentSum } from '../../../core/ports/payments.ts'
import type { Command } from '../engine/command.ts'
import { contains } from '../telemetry/conditions.ts'

/*
 * DESIGN. The operators' ledger of paid calls reads the rows that payments are settled with: a copy could diverge from the
 * amounts owed. Open payments sort by the time at which they end, so they come first.
 */

/** One more than a page, to know whether there is another. */
const LONGEST_LIST = 501
const DAY_MS = 24 * 60 * 60 * 1000
/** Prefix of the scope of agents' payments: see `commerce/agent-payments/paywall.ts`. */
const SCOPE = 'agent:'

/** One of the three is set in each state; for open payments it is the time at which they end. There is an index of exactly this. */
const AT = sql<number>`coalesce(captured_at_ms, ended_at_ms, due_at_ms)`

const BOOK = sql<PaymentBook>`case
  when state = 'consumed' then 'delivered'
  when state = 'captured' then 'owed'
  when state in ('claimed', 'authorized') then 'open'
  when payment.reference is null then 'none'
  else 'written-off' end`

const SEARCHED = ['payment.id', 'payment.reference', 'model', 'route'] as const

/** Lists payments, newest first. */
export const listPayments: Command<PaymentPage & { challengeId?: string }, ListedPayment[]> = async (
  db,
  { after, limit, text, book, challengeId },
) => {
  const conditions: RawBuilder<SqlBool>[] = []
  if (challengeId !== undefined) conditions.push(sql`payment.id = ${challengeId}`)
  if (book !== undefined) conditions.push(sql`${BOOK} = ${book}`)
  if (after !== undefined) {
    const { atMs, challengeId: id } = after
    // The first half uses the index.
    conditions.push(sql`(${AT} <= ${atMs} and (${AT} < ${atMs} or payment.id < ${id}))`)
  }
  if (text !== undefined && text !== '') conditions.push(contains(SEARCHED, text))
  const rows = await db
    .selectFrom('payment')
    .leftJoin('agent_session as session', 'session.id', 'payment.id')
    .select(['payment.id', 'state', 'amount_cents', 'currency', 'settlement', 'route', 'model', 'payment.reference'])
    .select(['payment.token_hash', 'session.token_hash as session_hash', 'calls_total', 'calls_left', 'expires_at_ms'])
    .select([AT.as('at_ms'), BOOK.as('book')])
    .where((is) => is.and(conditions))
    .orderBy(AT, 'desc')
    .orderBy('payment.id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
    .execute()
  return rows.map(({ token_hash, session_hash, calls_total, calls_left, expires_at_ms, ...row }) => ({
    challengeId: row.id,
    state: row.state,
    book: row.book,
    atMs: Number(row.at_ms),
    amountCents: row.amount_cents,
    currency: row.currency,
    settlement: row.settlement,
    route: row.route,
    model: row.model,
    reference: row.reference,
    scopes: [token_hash, ...(session_hash === null ? [] : [session_hash])].map((hash) => `${SCOPE}${hash}`),
    session:
      calls_total === null || calls_left === null || expires_at_ms === null
        ? null
        : { callsTotal: calls_total, callsLeft: calls_left, expiresAtMs: expires_at_ms },
  }))
}

/** Sums payments by day and book since a time. */
export const reportPayments: Command<{ sinceMs: number }, PaymentSum[]> = async (db, { sinceMs }) => {
  const dayMs = sql<number>`${AT} - ${AT} % ${sql.lit(DAY_MS)}`
  const rows = await db
    .selectFrom('payment')
    .select([dayMs.as('day_ms'), BOOK.as('book'), sql<number>`count(*)`.as('payments')])
    .select(sql<number>`sum(amount_cents)`.as('cents'))
    .where(AT, '>=', sinceMs)
    .groupBy([sql`1`, sql`2`])
    .orderBy(sql`1`)
    .orderBy(sql`2`)
    .execute()
  // PostgreSQL returns sums as text.
  return rows.map(({ day_ms, payments, cents, book: named }) => ({
    dayMs: Number(day_ms),
    book: named,
    payments: Number(payments),
    cents: Number(cents),
  }))
}

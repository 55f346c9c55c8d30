import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ListedPayment, PaymentBooks, PaymentPage } from '../../core/ports/payment-books.ts'
import type { Telemetry } from '../../core/telemetry/telemetry.ts'
import type { RequestState } from '../request-context.ts'
import { type CsvColumns, isoTime, sendCsv } from './csv.ts'
import { limit, readQuery } from './query.ts'
import { assertOperator, type ReadViewer } from './viewer.ts'

/** Dependencies of the routes of payments. */
export interface PaymentRouteOptions {
  readonly viewer: ReadViewer
  readonly payments: PaymentBooks
  /** Finds the requests of a payment; `undefined` when telemetry is off. */
  readonly telemetry: Pick<Telemetry, 'list'> | undefined
  readonly clock: Clock
}

const DAY_MS = 24 * 60 * 60 * 1000
const REPORTED_DAYS = 30
const MOST_REQUESTS = 100
const CENTS = 100
const BASE = '/dashboard/api/payments/'
const WHAT = 'Payments of agents'

const cursor = z
  .string()
  .regex(/^\d{1,15}\..{1,100}$/, { error: 'expected the `next_cursor` of a page before' })
  .transform((text) => {
    const at = text.indexOf('.')
    return { atMs: Number(text.slice(0, at)), challengeId: text.slice(at + 1) }
  })
const query = z.strictObject({
  after: cursor.optional(),
  limit,
  text: z.string().max(200).optional(),
  book: z.enum(['open', 'delivered', 'owed', 'written-off', 'none']).optional(),
})

/** `GET /dashboard/api/payments`: lists the payments of agents that match the filter, newest first; for operators. */
export function paymentsRoute({ viewer, payments }: PaymentRouteOptions): Middleware<RequestState> {
  return async function listPayments(ctx) {
    assertOperator(await viewer(ctx), WHAT)
    const page = pageOf(ctx)
    // One more than the page, to know whether there is a next page.
    const found = await payments.list({ ...page, limit: page.limit + 1 })
    const data = found.slice(0, page.limit)
    const last = found.length > page.limit ? data.at(-1) : undefined
    ctx.body = { data: data.map(shown), next_cursor: last ? `${last.atMs}.${last.challengeId}` : null }
  }
}

/** `GET /dashboard/api/payments.csv`: returns the same as a file. */
export function paymentsFileRoute({ viewer, payments }: PaymentRouteOptions): Middleware<RequestState> {
  return async function paymentsFile(ctx) {
    const user = await viewer(ctx)
    assertOperator(user, WHAT)
    const page = pageOf(ctx)
    sendCsv<ListedPayment>(ctx, {
      name: 'turnpike-payments.csv',
      user,
      viewer,
      columns: COLUMNS,
      page: (after, limit) => payments.list({ ...page, after, limit }),
    })
  }
}

/** `GET /dashboard/api/payments/days`: returns sums by day (UTC) and book, for the last thirty days. */
export function paymentDaysRoute({ viewer, payments, clock }: PaymentRouteOptions): Middleware<RequestState> {
  return async function paymentDays(ctx) {
    assertOperator(await viewer(ctx), WHAT)
    const nowMs = clock.nowMs()
    const sinceMs = nowMs - (nowMs % DAY_MS) - (REPORTED_DAYS - 1) * DAY_MS
    ctx.body = { sinceMs, days: REPORTED_DAYS, data: await payments.report({ sinceMs }) }
  }
}

/** `GET /dashboard/api/payments/:id`: returns a payment by its challenge, with the requests that used its token. */
export function paymentRoute({ viewer, payments, telemetry }: PaymentRouteOptions): Middleware<RequestState> {
  return async function payment(ctx) {
    assertOperator(await viewer(ctx), WHAT)
    const found = await payments.find(ctx.path.slice(BASE.length))
    if (found === undefined) throw new GatewayError('not_found', 'There is no such payment.')
    ctx.body = {
      payment: shown(found),
      requests: (await telemetry?.list(found.scopes, { limit: MOST_REQUESTS })) ?? [],
    }
  }
}

/** Parses the query. Throws `invalid_request`. */
function pageOf(ctx: Context): PaymentPage {
  return readQuery(query, ctx)
}

/** Removes the scopes, which identify the payer's token. */
function shown({ scopes: _, ...payment }: ListedPayment): Omit<ListedPayment, 'scopes'> {
  return payment
}

const COLUMNS: CsvColumns<ListedPayment> = [
  ['challenge', ({ challengeId }) => challengeId],
  ['at', ({ atMs }) => isoTime(atMs)],
  ['book', ({ book }) => book],
  ['state', ({ state }) => state],
  ['amount', ({ amountCents }) => (amountCents / CENTS).toFixed(2)],
  ['currency', ({ currency }) => currency],
  ['settlement', ({ settlement }) => settlement],
  ['route', ({ route }) => route],
  ['model', ({ model }) => model],
  ['reference', ({ reference }) => reference],
  ['session_calls', ({ session }) => session?.callsTotal ?? null],
  ['session_calls_left', ({ session }) => session?.callsLeft ?? null],
]

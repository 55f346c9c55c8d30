import { type BillingParts, stripeOf } from './parts.ts'
import { applyInvoice } from './payments.ts'
import { PriceReader } from './plan-prices.ts'
import { applyIntent } from './recharge-end.ts'
import { applyAll } from './subscriptions.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const LOOKED_BACK_MS = 3 * DAY_MS
const PAGE = 100
/** A bound far above any real account. */
const MOST_PAGES = 1000

/** Counts of a reconciliation. */
export interface Reconciliation {
  readonly subscriptions: number
  readonly invoices: number
  readonly recharges: number
}

/**
 * Recovers from webhooks that never arrived: lists all subscriptions, and the paid invoices and payments of the last three
 * days, and processes each like its webhook. Idempotent.
 */
export async function reconcile(parts: BillingParts): Promise<Reconciliation> {
  const stripe = await stripeOf(parts)
  const created = { gte: Math.floor((parts.clock.nowMs() - LOOKED_BACK_MS) / 1000) }
  const subscriptions = await eachPage(
    (page) => stripe.subscriptions.list({ status: 'all', ...page }),
    async (data, ticket) => {
      await applyAll(parts, data, ticket)
    },
  )
  const prices = new PriceReader(stripe)
  const invoices = await eachPage(
    (page) => stripe.invoices.list({ status: 'paid', created, ...page }),
    async (data) => {
      for (const invoice of data) await applyInvoice(parts, invoice, { prices })
    },
  )
  const recharges = await eachPage(
    (page) => stripe.paymentIntents.list({ created, ...page }),
    async (data) => {
      for (const intent of data) if (intent.status === 'succeeded') await applyIntent(parts, intent)
    },
  )
  return { subscriptions, invoices, recharges }

  /** Fetches page after page, each with a ticket of its own; resolves with the number of objects. */
  async function eachPage<Item extends { id?: string }>(
    list: (page: { limit: number; starting_after?: string }) => Promise<{ data: Item[]; has_more: boolean }>,
    apply: (data: Item[], ticket: number) => Promise<void>,
  ): Promise<number> {
    let count = 0
    let after: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const ticket = await parts.store.takeTicket()
      const { data, has_more } = await list({ limit: PAGE, ...(after !== undefined && { starting_after: after }) })
      await apply(data, ticket)
      count += data.length
      after = data.at(-1)?.id
      if (!has_more || after === undefined) break
    }
    return count
  }
}

import type { Middleware } from 'koa'
import { z } from 'zod'
import type { ListCredits } from '../../core/ports/credit-entries.ts'
import type { RequestState } from '../request-context.ts'
import { limit, readQuery, wholeNumber } from './query.ts'
import { type ReadViewer, userOf } from './viewer.ts'

const query = z.strictObject({ after: wholeNumber.optional(), limit })

/** `GET /dashboard/api/credits`: lists the entries of the viewer's own credit ledger, newest first. */
export function creditsRoute({
  viewer,
  credits,
}: {
  viewer: ReadViewer
  credits: ListCredits
}): Middleware<RequestState> {
  return async function listCredits(ctx) {
    const accountId = userOf(await viewer(ctx), 'In local mode there are no accounts.')
    const page = readQuery(query, ctx)
    const found = await credits({ ...page, accountId, limit: page.limit + 1 })
    ctx.body = { data: found.slice(0, page.limit), has_more: found.length > page.limit }
  }
}

import type { Context } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { AdminPage, Reach } from '../../core/ports/people.ts'
import type { BodyIntake } from '../body-intake.ts'
import { readControlBody } from '../control-body.ts'
import { limit, readQuery } from '../dashboard/query.ts'
import type { ReadViewer, Viewer } from '../dashboard/viewer.ts'

const LONGEST_SEARCH = 200
const page = z.strictObject({
  search: z.string().max(LONGEST_SEARCH).optional(),
  after: z.string().max(LONGEST_SEARCH).optional(),
  limit,
  person: z.string().max(LONGEST_SEARCH).optional(),
  team: z.string().max(LONGEST_SEARCH).optional(),
  revoked: z.enum(['true', 'false']).optional(),
})

/** Reads the query of a list. Throws `invalid_request`. */
export function readPage(ctx: Context): z.output<typeof page> {
  return readQuery(page, ctx)
}

/** Returns a page of a list, and whether more rows may follow. */
export function pageOf<Row>(data: readonly Row[], { limit: most }: Pick<AdminPage, 'limit'>) {
  return { data, has_more: data.length === most }
}

/** Returns what a viewer sees: `undefined` is all, for operators and the role `viewer`. */
export function reachOf({ userId, isOperator, mayChange, teamIds }: Viewer): Reach | undefined {
  return isOperator || !mayChange ? undefined : { accountId: userId ?? '', teamIds }
}

/** Returns the actor of a viewer's changes, as in the audit log. */
export function actorOf({ userId }: Viewer): string {
  return userId === undefined ? 'operator' : `user:${userId}`
}

/** Dependencies of requests that change something. */
export interface ChangeOptions {
  readonly viewer: ReadViewer
  readonly intake: BodyIntake
}

/** Reads the body of a change. Throws `invalid_request`, `request_too_large`, `unsupported_media_type`. */
export function readChange(ctx: Context, { intake }: ChangeOptions, viewer: Viewer): Promise<unknown> {
  return readControlBody(ctx.req, { intake, sender: viewer.userId ?? 'operator' })
}

/** Returns a parameter of the path, decoded. Throws `not_found` for one that cannot be. */
export function parameter(ctx: Context, name: string): string {
  // Safe: the router sets the parameters of its patterns.
  const value = (ctx.params as Readonly<Record<string, string | undefined>>)[name]
  if (value === undefined || value === '') throw new GatewayError('not_found', `There is nothing at ${ctx.path}.`)
  return value
}

/** Replies without a body. */
export function replyEmpty(ctx: Context): void {
  ctx.status = 204
  ctx.body = null
}

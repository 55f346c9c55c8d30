import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { AuditNote } from '../../core/ports/audit.ts'
import type { InFlight } from '../in-flight.ts'
import type { RequestState } from '../request-context.ts'
import { idsOf, type NameOptions, namesFor } from './names.ts'
import { assertMayManage, type ReadViewer } from './viewer.ts'

/** Dependencies of the routes of requests in flight. */
export interface InFlightRouteOptions {
  readonly viewer: ReadViewer
  readonly inFlight: InFlight
  /** Appends to the audit log; unset in local mode, which has no users. */
  readonly audit: ((note: AuditNote) => Promise<void>) | undefined
}

const BASE = '/dashboard/api/in-flight/'

/** `GET /dashboard/api/in-flight`: lists the viewer's requests whose replies have not ended, in all processes, the oldest first. */
export function inFlightRoute({
  viewer,
  inFlight,
  names,
}: InFlightRouteOptions & NameOptions): Middleware<RequestState> {
  return async function listInFlight(ctx) {
    const user = await viewer(ctx)
    const data = await inFlight.list(user.scopes)
    ctx.body = {
      data: data.map(({ scope: _, ...request }) => request),
      names: await namesFor(user, idsOf(data), names),
    }
  }
}

/** `DELETE /dashboard/api/in-flight/:id`: ends one, as its key's owner, its team's lead or an operator; recorded in the audit log. */
export function endRoute({ viewer, inFlight, audit }: InFlightRouteOptions): Middleware<RequestState> {
  return async function endRequest(ctx) {
    const seer = await viewer(ctx)
    const id = ctx.path.slice(BASE.length)
    const found = (await inFlight.list(seer.scopes)).find((request) => request.id === id)
    if (found === undefined) throw notThere()
    assertMayManage(seer, found)
    const isOwner = seer.userId !== undefined && seer.userId === found.userId
    const by = isOwner ? 'the owner of its key' : 'an operator or the lead of its team'
    if (!(await inFlight.end(id, `This request was ended by ${seer.userId === undefined ? 'the operator' : by}.`)))
      throw notThere()
    if (seer.userId !== undefined)
      await audit?.({
        id: `aud_${randomUUID()}`,
        accountId: found.userId ?? seer.userId,
        actor: `user:${seer.userId}`,
        action: 'request.ended',
        subject: id,
        details: { keyId: found.keyId, model: found.model },
      })
    ctx.status = 204
    ctx.body = null
  }
}

function notThere(): GatewayError {
  return new GatewayError('not_found', 'There is no such request of yours in flight: its reply may have ended.')
}

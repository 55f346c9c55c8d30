import type { Middleware } from 'koa'
import { createAuditId } from '../../accounts/sign-in/secrets.ts'
import { GatewayError } from '../../core/errors.ts'
import type { SignInStore } from '../../core/ports/sign-in.ts'
import { assertOperator, type ReadViewer } from '../dashboard/viewer.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadSession } from '../session.ts'

/** Dependencies of the routes of sessions. */
export interface SessionListOptions {
  readonly session: ReadSession
  readonly viewer: ReadViewer
  readonly store: SignInStore
}

/** `GET /v1/sessions`: lists the user's sessions. */
export function listSessionsRoute({ session, store }: SessionListOptions): Middleware<RequestState> {
  return async function listSessions(ctx) {
    const { userId, id } = await session(ctx)
    ctx.body = { sessions: await listed(store, userId, id) }
  }
}

/** `DELETE /v1/sessions/:id`: ends one of the user's sessions. */
export function endSessionRoute({ session, store }: SessionListOptions): Middleware<RequestState> {
  return async function endSession(ctx) {
    const { userId } = await session(ctx)
    const id = ctx.path.slice('/v1/sessions/'.length)
    const audit = {
      id: createAuditId(),
      accountId: userId,
      actor: `user:${userId}`,
      action: 'session.ended',
      subject: id,
    }
    if (!(await store.revoke({ id, accountId: userId, audit })))
      throw new GatewayError('not_found', 'You have no such session.')
    ctx.status = 204
    ctx.body = null
  }
}

/** `GET /v1/admin/people/:id/sessions`: lists a person's sessions, for operators. */
export function personSessionsRoute({ viewer, store }: SessionListOptions): Middleware<RequestState> {
  return async function listPersonSessions(ctx) {
    assertOperator(await viewer(ctx), 'Sessions')
    ctx.body = { sessions: await listed(store, personIn(ctx.path)) }
  }
}

/** `DELETE /v1/admin/people/:id/sessions`: ends all sessions of a person, for operators. */
export function endPersonSessionsRoute({ viewer, store }: SessionListOptions): Middleware<RequestState> {
  return async function endPersonSessions(ctx) {
    const operator = await viewer(ctx)
    assertOperator(operator, 'Sessions')
    const accountId = personIn(ctx.path)
    const audit = {
      id: createAuditId(),
      accountId,
      actor: `user:${operator.userId}`,
      action: 'session.ended-all',
      subject: accountId,
    }
    ctx.body = { ended: await store.revokeAll({ accountId, audit }) }
  }
}

const PERSON_PATH = /^\/v1\/admin\/people\/([^/]*)\/sessions$/

function personIn(path: string): string {
  const [, encoded = ''] = PERSON_PATH.exec(path) ?? []
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new GatewayError('not_found', 'There is no such person.')
  }
}

async function listed(store: SignInStore, accountId: string, current?: string) {
  const sessions = await store.list(accountId)
  return sessions.map(({ id, kind, client, createdAtMs, lastSeenAtMs, expiresAtMs }) => ({
    id,
    kind,
    client,
    createdAt: new Date(createdAtMs).toISOString(),
    lastSeenAt: new Date(lastSeenAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    isCurrent: id === current,
  }))
}

import type { Middleware } from 'koa'
import type { Keys } from '../../accounts/keys/keys.ts'
import type { AdminParts } from '../admin/routes.ts'
import type { BodyIntake } from '../body-intake.ts'
import { readControlBody } from '../control-body.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadSession } from '../session.ts'

/** Dependencies of the routes of keys. */
export interface KeyRouteOptions extends KeyRouteParts {
  readonly intake: BodyIntake
}

/** Operations on accounts that the routes of keys need. */
export interface KeyRouteParts {
  /** Records refusals of roles. */
  readonly auditRefusals: Middleware
  readonly session: ReadSession
  readonly keys: Keys
  /** The administration of all accounts. */
  readonly admin: AdminParts
}

/** `POST /v1/keys`: creates a key, which is shown only once. */
export function createKeyRoute({ session, keys, intake }: KeyRouteOptions): Middleware<RequestState> {
  return async function createKey(ctx) {
    const { userId } = await session(ctx)
    const created = await keys.create(userId, await readControlBody(ctx.req, { intake, sender: userId }))
    ctx.status = 201
    ctx.body = created
  }
}

/** `GET /v1/keys`: lists the user's keys, without their secrets. */
export function listKeysRoute({ session, keys }: KeyRouteOptions): Middleware<RequestState> {
  return async function listKeys(ctx) {
    const { userId } = await session(ctx)
    ctx.body = { keys: await keys.list(userId) }
  }
}

/** `PATCH /v1/keys/:id`: changes a key, from its next request on. */
export function changeKeyRoute({ session, keys, intake }: KeyRouteOptions): Middleware<RequestState> {
  return async function changeKey(ctx) {
    const { userId } = await session(ctx)
    const body = await readControlBody(ctx.req, { intake, sender: userId })
    ctx.body = { ok: true, key: await keys.change(userId, idIn(ctx.path), body) }
  }
}

/** `POST /v1/keys/:id/rotate`: gives a key a new secret, shown only once; the one before works for the overlap. */
export function rotateKeyRoute({ session, keys, intake }: KeyRouteOptions): Middleware<RequestState> {
  return async function rotateKey(ctx) {
    const { userId } = await session(ctx)
    const body = await readControlBody(ctx.req, { intake, sender: userId })
    ctx.body = await keys.rotate(userId, idIn(ctx.path.slice(0, -'/rotate'.length)), body)
  }
}

/** `DELETE /v1/keys/:id`: revokes a key. */
export function revokeKeyRoute({ session, keys }: KeyRouteOptions): Middleware<RequestState> {
  return async function revokeKey(ctx) {
    const { userId } = await session(ctx)
    await keys.revoke(userId, idIn(ctx.path))
    ctx.status = 204
    ctx.body = null
  }
}

/** Returns the id in the path. Ids are letters and digits, so one that needs decoding is unknown. */
function idIn(path: string): string {
  return path.slice('/v1/keys/'.length)
}

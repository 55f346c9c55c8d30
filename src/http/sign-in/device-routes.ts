import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { bindFirstOperator } from '../../accounts/sign-in/first-operator.ts'
import { GatewayError } from '../../core/errors.ts'
import type { BodyIntake } from '../body-intake.ts'
import { readControlBody } from '../control-body.ts'
import { cookieOf, setCookie } from '../cookies.ts'
import { isOwnPage } from '../dashboard/own-page.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadSession } from '../session.ts'
import { OPERATOR_LINK } from './browser-routes.ts'
import { count, countAddress, publicUrlOf, type SignInParts } from './options.ts'

/** Dependencies of the routes of the device page. */
export interface DeviceRouteOptions extends SignInParts {
  readonly session: ReadSession
  readonly intake: BodyIntake
}

/** Tries of a code per minute and user: of 25 billion codes, ten minutes find none. */
const MOST_CODES = 10
const MOST_LINKS = 30
const LINK_MS = 60 * 60_000

const typed = z.strictObject({ code: z.string().max(40) })
const decision = typed.extend({ approve: z.boolean() })

/** `POST /dashboard/api/device/find` with a typed code: which command asks, and from where. */
export function findDeviceRoute(options: DeviceRouteOptions): Middleware<RequestState> {
  return async function findDevice(ctx) {
    const { code } = await readCode(ctx, options, typed)
    const { client, address, createdAtMs } = await options.devices.find(code)
    ctx.body = { client, address, createdAt: new Date(createdAtMs).toISOString() }
  }
}

/** `POST /dashboard/api/device` with a code and a decision: approves or denies the request. */
export function decideDeviceRoute(options: DeviceRouteOptions): Middleware<RequestState> {
  return async function decideDevice(ctx) {
    const { code, approve, userId } = await readCode(ctx, options, decision)
    await options.devices.decide(code, userId, approve)
    ctx.status = 204
    ctx.body = null
  }
}

async function readCode<Body>(ctx: Context, options: DeviceRouteOptions, schema: z.ZodType<Body>) {
  const { userId } = await options.session(ctx)
  await count(options.limiter, `code:${userId}`, MOST_CODES)
  const parsed = schema.safeParse(await readControlBody(ctx.req, { intake: options.intake, sender: userId }))
  if (!parsed.success) throw new GatewayError('invalid_request', 'Expected `{ "code": "BCDF-GHJK" }`.')
  return { ...parsed.data, userId }
}

const link = z.strictObject({ secret: z.string().length(43) })

/** `POST /sign-in/first-operator`: binds the one-time link of the start to this browser. */
export function operatorLinkRoute(options: Omit<DeviceRouteOptions, 'session'>): Middleware<RequestState> {
  return async function bindLink(ctx) {
    if (!isOwnPage(ctx)) throw new GatewayError('permission_error', 'Only the dashboard’s own page can use the link.')
    await countAddress(options, ctx.req, { what: 'link', most: MOST_LINKS })
    const sender = ctx.req.socket.remoteAddress ?? ''
    const parsed = link.safeParse(await readControlBody(ctx.req, { intake: options.intake, sender }))
    const secret = parsed.data?.secret
    const bound = secret && (await bindFirstOperator(options.store, secret, cookieOf(ctx, OPERATOR_LINK)))
    if (!bound) throw new GatewayError('not_found', 'The link has expired, was used, or is open in another browser.')
    const isSecure = publicUrlOf(options, ctx).startsWith('https:')
    const expiresAtMs = options.clock.nowMs() + LINK_MS
    setCookie(ctx, OPERATOR_LINK, { value: bound, expiresAtMs, sameSite: 'Lax', isSecure })
    ctx.status = 204
    ctx.body = null
  }
}

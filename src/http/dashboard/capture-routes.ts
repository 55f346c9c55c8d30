import type { Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { BodyIntake } from '../body-intake.ts'
import { readControlBody } from '../control-body.ts'
import type { RequestState } from '../request-context.ts'
import type { CaptureOptIns } from './capture-opt-in.ts'
import { type ReadViewer, userOf } from './viewer.ts'

/** Dependencies of the routes of the capture opt-in. */
export interface CaptureOptInRouteOptions {
  readonly viewer: ReadViewer
  readonly optIns: CaptureOptIns
  readonly intake: BodyIntake
}

const MOST_HOURS = 7 * 24
const HOUR_MS = 3_600_000
const DECIDED = 'In local mode the operator decides.'
const wish = z.strictObject({ hours: z.int().min(0).max(MOST_HOURS) })

/** `GET /dashboard/api/capture`: returns the end of the account's capture opt-in, `null` without one. */
export function captureRoute({ viewer, optIns }: Omit<CaptureOptInRouteOptions, 'intake'>): Middleware<RequestState> {
  return async function capture(ctx) {
    const untilMs = await optIns.untilMs(userOf(await viewer(ctx), DECIDED))
    ctx.body = { untilMs: untilMs ?? null, keepMs: optIns.keepMs }
  }
}

/** `PUT /dashboard/api/capture` with `{ "hours": 1 }`: opts in for so many hours; 0 ends it. */
export function captureOptInRoute({ viewer, optIns, intake }: CaptureOptInRouteOptions): Middleware<RequestState> {
  return async function captureOptIn(ctx) {
    const userId = userOf(await viewer(ctx), DECIDED)
    const parsed = wish.safeParse(await readControlBody(ctx.req, { intake, sender: userId }))
    if (!parsed.success)
      throw new GatewayError('invalid_request', `hours: expected a whole number from 0 to ${MOST_HOURS}.`)
    ctx.body = { untilMs: (await optIns.set(userId, parsed.data.hours * HOUR_MS)) ?? null, keepMs: optIns.keepMs }
  }
}

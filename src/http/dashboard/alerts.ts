import type { Middleware } from 'koa'
import { z } from 'zod'
import type { ListedAlert, StoredAlert } from '../../core/ports/alerts.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import type { BodyIntake } from '../body-intake.ts'
import { readControlBody } from '../control-body.ts'
import type { RequestState } from '../request-context.ts'
import { assertOperator, type ReadViewer } from './viewer.ts'

const MOST_LISTED = 100
const testFields = z.strictObject({ channel: z.string().max(40) })

/** Alerts as the dashboard shows them. */
export interface AlertBooks {
  /** True when this gateway watches. */
  readonly isOn: boolean
  /** The channels, without addresses and secrets. */
  readonly channels: readonly { readonly name: string; readonly kind: string; readonly kinds: readonly string[] }[]
  /** Shares of a cap, in percent, at which an alert is raised. */
  readonly caps: readonly number[]
  list(page: { most: number }): Promise<readonly ListedAlert[]>
  /** Sends a test alert to a channel now. Throws `not_found`, `upstream_error`. */
  test(channel: string): Promise<StoredAlert>
}

/** Dependencies of the routes of alerts. */
export interface AlertRouteOptions {
  readonly viewer: ReadViewer
  readonly alerts: AlertBooks
  readonly intake: BodyIntake
}

/** `GET /dashboard/api/alerts`: the channels, and the latest 100 alerts with the state of their deliveries. */
export function alertsRoute({ viewer, alerts }: Omit<AlertRouteOptions, 'intake'>): Middleware<RequestState> {
  return async function listAlerts(ctx) {
    assertOperator(await viewer(ctx), 'Alerts')
    const { isOn, channels, caps } = alerts
    ctx.body = { isOn, channels, caps, data: await alerts.list({ most: MOST_LISTED }) }
  }
}

/** `POST /dashboard/api/alerts/test` with `{ "channel": "ops" }`: sends a test alert, and replies when it was taken. */
export function testAlertRoute({ viewer, alerts, intake }: AlertRouteOptions): Middleware<RequestState> {
  return async function testAlert(ctx) {
    const user = await viewer(ctx)
    assertOperator(user, 'Alerts')
    const body = await readControlBody(ctx.req, { intake, sender: user.userId ?? 'operator' })
    const { channel } = parseFields(testFields, body)
    const { id } = await alerts.test(channel)
    ctx.body = { sent: true, channel, id }
  }
}

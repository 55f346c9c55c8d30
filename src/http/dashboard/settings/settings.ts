import type { Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../../core/errors.ts'
import { parseFields } from '../../../core/request/parse-fields.ts'
import type { BodyIntake } from '../../body-intake.ts'
import { readControlBody } from '../../control-body.ts'
import type { RequestState } from '../../request-context.ts'
import { assertOperator, type ReadViewer } from '../viewer.ts'
import type { SettingsControl } from './control.ts'
import { authorOf } from './editor.ts'

/** Dependencies of the routes of settings. */
export interface SettingsRouteOptions {
  readonly viewer: ReadViewer
  readonly settings: SettingsControl
  readonly intake: BodyIntake
}

const LONGEST_NAME = 250
const wanted = z.strictObject({ name: z.string().min(1).max(LONGEST_NAME), value: z.json() })

/** `GET /dashboard/api/settings`: returns the effective configuration, with the source of each value. */
export function settingsRoute({ viewer, settings }: SettingsRouteOptions): Middleware<RequestState> {
  return async function showSettings(ctx) {
    assertOperator(await viewer(ctx), 'Settings')
    ctx.body = settings.inForce()
  }
}

/** `GET /dashboard/api/settings/changes`: lists the last changes, newest first, with their authors. */
export function changesRoute({ viewer, settings }: SettingsRouteOptions): Middleware<RequestState> {
  return async function listChanges(ctx) {
    assertOperator(await viewer(ctx), 'Settings')
    ctx.body = { data: await settings.changes() }
  }
}

/** `POST /dashboard/api/settings/preview` with `{ "name": "costs.per_day", "value": 5 }`: returns the effects of the change. */
export function previewRoute({ viewer, settings, intake }: SettingsRouteOptions): Middleware<RequestState> {
  return async function previewChange(ctx) {
    const seen = await viewer(ctx)
    assertOperator(seen, 'Settings')
    const body = await readControlBody(ctx.req, { intake, sender: seen.userId ?? 'operator' })
    ctx.body = await settings.preview(parseFields(wanted, body))
  }
}

/** `POST /dashboard/api/settings` with the same body: stores the change; a value of `null` restores the configuration's own. */
export function changeRoute({ viewer, settings, intake }: SettingsRouteOptions): Middleware<RequestState> {
  return async function changeSetting(ctx) {
    const author = await authorOf(ctx, viewer)
    const body = await readControlBody(ctx.req, { intake, sender: author.actor })
    ctx.body = await settings.change(parseFields(wanted, body), author)
  }
}

/** `POST /dashboard/api/settings/changes/:seq/undo`: restores the value before the last change of an option. */
export function undoRoute({ viewer, settings }: SettingsRouteOptions): Middleware<RequestState> {
  return async function undoChange(ctx) {
    const author = await authorOf(ctx, viewer)
    const seq = Number(ctx.path.split('/').at(-2))
    if (!Number.isSafeInteger(seq)) throw new GatewayError('invalid_request', 'seq: expected the number of a change.')
    ctx.body = await settings.undo(seq, author)
  }
}

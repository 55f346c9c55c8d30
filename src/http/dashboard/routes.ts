import type Router from '@koa/router'
import type { Context, Middleware, Next } from 'koa'
import type { VerifySession } from '../../accounts/sessions/session.ts'
import type { Budgets } from '../../core/ports/budgets.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ListCredits } from '../../core/ports/credit-entries.ts'
import type { PaymentBooks } from '../../core/ports/payment-books.ts'
import type { ConversationReader } from '../../core/telemetry/conversations.ts'
import type { Telemetry } from '../../core/telemetry/telemetry.ts'
import type { BodyIntake } from '../body-intake.ts'
import type { RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import { type AlertBooks, alertsRoute, testAlertRoute } from './alerts.ts'
import { assetsRoute } from './assets.ts'
import { budgetsRoute, raiseBudgetRoute } from './budgets.ts'
import { type CaptureOptInRouteOptions, captureOptInRoute, captureRoute } from './capture-routes.ts'
import { conversationRoute, conversationsRoute, turnsFileRoute } from './conversations.ts'
import { creditsRoute } from './credits.ts'
import { groupsFileRoute, groupsRoute } from './groups.ts'
import { endRoute, type InFlightRouteOptions, inFlightRoute } from './in-flight-routes.ts'
import type { LivePages } from './live-pages.ts'
import { liveRoute } from './live-route.ts'
import { type NameOptions, namesRoute } from './names.ts'
import { overviewRoute } from './overview.ts'
import { paymentDaysRoute, paymentRoute, paymentsFileRoute, paymentsRoute } from './payments.ts'
import { pluginFiguresRoute } from './plugin-figures.ts'
import { csvRoute, jsonlRoute, listRoute, type RequestRouteOptions, requestRoute } from './requests.ts'
import {
  type DashboardFacts,
  type SignInWays,
  signInRoute,
  signOutRoute,
  viewerRoute,
  waysRoute,
} from './session-routes.ts'
import type { SettingsControl } from './settings/control.ts'
import { providersRoute, removeKeyRoute, storeKeyRoute, testKeyRoute } from './settings/provider-keys.ts'
import {
  changeRoute,
  changesRoute,
  previewRoute,
  type SettingsRouteOptions,
  settingsRoute,
  undoRoute,
} from './settings/settings.ts'
import type { ReadViewer } from './viewer.ts'

/** Dependencies of the dashboard. */
export interface DashboardOptions
  extends Pick<RequestRouteOptions, 'receipts' | 'captures'>,
    Pick<InFlightRouteOptions, 'inFlight' | 'audit'>,
    NameOptions {
  /** The folder of the built files. */
  readonly folder: string
  readonly viewer: ReadViewer
  /** Sign-in of cloud mode; `undefined` in local mode, which has none. */
  readonly signIn: ({ readonly verify: VerifySession; readonly limits: RequestLimits } & SignInWays) | undefined
  readonly facts: DashboardFacts
  /** Rows of requests; `undefined` when telemetry is off. */
  readonly telemetry: (Telemetry & ConversationReader) | undefined
  readonly live: LivePages
  /** Capture opt-ins of cloud mode; `undefined` where users cannot opt in. */
  readonly captureOptIns: CaptureOptInRouteOptions['optIns'] | undefined
  readonly payments: PaymentBooks
  readonly alerts: AlertBooks
  readonly budgets: Budgets
  /** Credit ledger of cloud mode. */
  readonly credits: ListCredits | undefined
  /** Details of plugins for users. */
  readonly plugins: () => readonly object[]
  /** Details of plugins for operators: also their folders and failures. */
  readonly pluginsInDetail: () => readonly object[]
  readonly settings: SettingsControl
  readonly clock: Clock
}

/** Adds the dashboard's page, its files and the data that it shows. */
export function addDashboard(router: Router<RequestState>, options: DashboardOptions, intake: BodyIntake): void {
  const { viewer, telemetry, signIn, captureOptIns } = options
  const files = assetsRoute(options.folder)
  router.get('/', files).get('/assets/:name', files)
  router.get('/dashboard', (ctx) => ctx.redirect(`/${ctx.search}#/billing`))
  const api = (path: string, ...stack: Middleware<RequestState>[]) =>
    router.get(`/dashboard/api/${path}`, unstored, ...stack)
  api('session', viewerRoute(options))
  if (signIn !== undefined) {
    router.post('/dashboard/api/session', unstored, signInRoute(signIn))
    router.delete('/dashboard/api/session', unstored, signOutRoute(signIn.signIn))
    api('sign-in', waysRoute(signIn))
  }
  api('plugins', async (ctx) => {
    const { isOperator } = await viewer(ctx)
    ctx.body = { data: isOperator ? options.pluginsInDetail() : options.plugins() }
  })
  addSettings(router, { ...options, intake })
  api('live', liveRoute(options))
  api('in-flight', inFlightRoute(options))
  api('names', namesRoute(options))
  router.delete('/dashboard/api/in-flight/:id', unstored, endRoute(options))
  api('conversations/:id/budgets', budgetsRoute(options))
  router.post('/dashboard/api/conversations/:id/budgets', unstored, raiseBudgetRoute({ ...options, intake }))
  if (captureOptIns !== undefined) {
    const optIns = { viewer, optIns: captureOptIns, intake }
    api('capture', captureRoute(optIns))
    router.put('/dashboard/api/capture', unstored, captureOptInRoute(optIns))
  }
  api('alerts', alertsRoute(options))
  router.post('/dashboard/api/alerts/test', unstored, testAlertRoute({ ...options, intake }))
  api('payments', paymentsRoute(options))
  api('payments.csv', paymentsFileRoute(options))
  api('payments/days', paymentDaysRoute(options))
  api('payments/:id', paymentRoute(options))
  if (options.credits !== undefined) api('credits', creditsRoute({ viewer, credits: options.credits }))
  if (telemetry === undefined) return
  const requests = { ...options, telemetry }
  api('plugins/figures', pluginFiguresRoute(requests))
  api('overview', overviewRoute(requests))
  api('groups', groupsRoute(requests))
  api('groups.csv', groupsFileRoute(requests))
  api('requests', listRoute(requests))
  api('requests.csv', csvRoute(requests))
  api('requests.jsonl', jsonlRoute(requests))
  api('requests/:id', requestRoute(requests))
  api('conversations', conversationsRoute(requests))
  api('conversations/:id', conversationRoute(requests))
  api('conversations/:id/turns.jsonl', turnsFileRoute(requests))
}

function addSettings(router: Router<RequestState>, options: SettingsRouteOptions): void {
  const path = '/dashboard/api/settings'
  const providers = '/dashboard/api/providers'
  router
    .get(path, unstored, settingsRoute(options))
    .post(path, unstored, changeRoute(options))
    .post(`${path}/preview`, unstored, previewRoute(options))
    .get(`${path}/changes`, unstored, changesRoute(options))
    .post(`${path}/changes/:seq/undo`, unstored, undoRoute(options))
    .get(providers, unstored, providersRoute(options))
    .post(`${providers}/:name/test`, unstored, testKeyRoute(options))
    .put(`${providers}/:name/key`, unstored, storeKeyRoute(options))
    .delete(`${providers}/:name/key`, unstored, removeKeyRoute(options))
}

/** Keeps data of requests out of caches. */
async function unstored(ctx: Context, next: Next): Promise<void> {
  ctx.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  await next()
}

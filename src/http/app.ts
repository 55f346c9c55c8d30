import cors from '@koa/cors'
import Router from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Discovery } from '../commerce/agent-payments/discovery.ts'
import type { Provider } from '../core/ports/provider.ts'
import { addAdmin } from './admin/routes.ts'
import type { Intakes } from './body-intake.ts'
import { addDashboard, type DashboardOptions } from './dashboard/routes.ts'
import { notFound } from './not-found.ts'
import type { OpenapiOptions } from './openapi/document.ts'
import { createOriginGuard, type OriginGuardOptions } from './origin-guard.ts'
import { createPayerScope } from './payer-scope.ts'
import type { Readiness } from './readiness.ts'
import { createRequestContext, type RequestContextOptions, type RequestState } from './request-context.ts'
import { AGENT_PATH, type AgentRouteOptions, agentRoute } from './routes/agent.ts'
import { discoveryRoute, ledgerRoute, quoteRoute } from './routes/agent-discovery.ts'
import { markSandbox, SANDBOX_TOKENS_PATH, type SandboxWallet, sandboxTokenRoute } from './routes/agent-sandbox.ts'
import { openSessionRoute, SESSIONS_PATH, sessionRoute } from './routes/agent-sessions.ts'
import {
  autoRechargeRoute,
  type BillingRouteOptions,
  type BillingRouteParts,
  balanceRoute,
  checkoutRoute,
  portalRoute,
  webhookRoute,
} from './routes/billing.ts'
import { llmsRoute, openapiRoute } from './routes/documents.ts'
import { healthRoute } from './routes/health.ts'
import {
  changeKeyRoute,
  createKeyRoute,
  type KeyRouteOptions,
  type KeyRouteParts,
  listKeysRoute,
  revokeKeyRoute,
  rotateKeyRoute,
} from './routes/keys.ts'
import { type LedgerRouteOptions, ledgerRoutes } from './routes/ledger.ts'
import { billingUnavailable, keysUnavailable, localBalance } from './routes/local-mode.ts'
import { type MetricsRouteOptions, metricsRoute } from './routes/metrics.ts'
import { type ModelRouteOptions, modelRoute } from './routes/model.ts'
import { type ModelListOptions, modelByNameRoute, modelsRoute } from './routes/models.ts'
import { type PluginRoutesOptions, pluginRoutes } from './routes/plugin-routes.ts'
import { READY_PATH, readyRoute } from './routes/ready.ts'
import { type ReceiptRouteOptions, receiptKeysRoute, receiptRoute, receiptsRoute } from './routes/receipts.ts'
import { allowedRoute, countTokensRoute, type RelayRouteOptions, routeNotAllowed } from './routes/relay.ts'
import { type SocketRouteOptions, socketRoute } from './routes/socket.ts'
import { type StoredResponseRouteOptions, storedResponseRoute } from './routes/stored-responses.ts'
import { addSignIn, addSignInPages, type SignInRouteOptions } from './sign-in/routes.ts'

const MESSAGES_PATH = '/v1/messages'
const CHAT_PATH = '/v1/chat/completions'
/** Path of Responses, whose WebSocket has the same. */
export const RESPONSES_PATH = '/v1/responses'
const COMPACT_PATH = '/v1/responses/compact'

/** Dependencies of the HTTP application. */
export interface HttpAppOptions extends RequestContextOptions, OriginGuardOptions {
  readonly messages: ModelRouteOptions
  readonly chat: ModelRouteOptions
  readonly responses: ModelRouteOptions
  readonly storedResponses: StoredResponseRouteOptions
  readonly compact: ModelRouteOptions
  readonly socket: SocketRouteOptions
  readonly relay: RelayRouteOptions
  readonly models: ModelListOptions
  readonly receipts: ReceiptRouteOptions
  readonly plugins: Omit<PluginRoutesOptions, 'intake'>
  /** Accounts of cloud mode; unset in local mode. */
  readonly accounts: KeyRouteParts | undefined
  /** Billing of cloud mode; `undefined` in local mode. */
  readonly billing: BillingRouteParts | undefined
  /** Payments of agents; `undefined` when they are off. */
  readonly agent: AgentOptions | undefined
  readonly documents: OpenapiOptions
  readonly intakes: Intakes
  /** Sign-in by OpenID Connect; `undefined` where it is not configured. */
  readonly signIn: SignInRouteOptions | undefined
  /** The dashboard; `undefined` when it is off. */
  readonly dashboard: DashboardOptions | undefined
  readonly health: { build: string; startedAtMs: number; providers: () => readonly Provider[] }
  readonly readiness: Readiness
  readonly allowedRoutes: readonly string[]
  readonly metrics: MetricsRouteOptions
}

/** Routes of agents; without a paywall, discovery alone is served and reports that nothing can be paid. */
export interface AgentOptions extends Omit<AgentRouteOptions, 'paywall' | 'sessions'> {
  readonly payable: Pick<AgentRouteOptions, 'paywall' | 'sessions'> | undefined
  readonly discovery: Discovery
  /** Wallet of the sandbox; `undefined` where payments are real. */
  readonly wallet: SandboxWallet | undefined
}

/** Creates the HTTP application: the request context, then the routes. */
export function createHttpApp(options: HttpAppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>()
  // The request context renders and logs errors; only broken connections reach Koa.
  app.silent = true
  app.use(createRequestContext(options))
  if (options.accounts === undefined) app.use(createOriginGuard(options))
  if (options.corsOrigins.length > 0) app.use(corsFor(options.corsOrigins))
  const models = new Map([
    [MESSAGES_PATH, options.messages],
    [CHAT_PATH, options.chat],
    [RESPONSES_PATH, options.responses],
    [COMPACT_PATH, options.compact],
  ])
  const hot: HotRoutes = new Map([...models].map(([path, model]) => [path, modelRoute(model)]))
  app.use((ctx, next) => {
    // The router scans its whole list for every request, so the hot routes are looked up first.
    const model = hot.get(ctx.path)
    const dialect = models.get(ctx.path)?.dialect
    if (model === undefined || dialect === undefined) return next()
    ctx.state.dialect = dialect
    if (ctx.method !== 'POST') return next()
    ctx.state.route = ctx.path
    return model(ctx, next)
  })
  // After the routes of models, which have no roles.
  if (options.accounts !== undefined) app.use(options.accounts.auditRefusals)
  const router = createRouter(options, hot)
  const { intakes } = options
  app
    .use(router.routes())
    .use(router.allowedMethods())
    .use(pluginRoutes({ ...options.plugins, intake: intakes.callers }))
    .use(notFound(router))
  return app
}

/** Adds the routes that send requests to models. */
type HotRoutes = ReadonlyMap<string, Middleware<RequestState>>

/** Creates the router of all routes except those of plugins, which change at run time. */
export function createRouter(options: HttpAppOptions, hot: HotRoutes): Router<RequestState> {
  const { relay, models, health, agent, allowedRoutes, intakes } = options
  const payerScope = agent?.payable && createPayerScope({ ...agent, ...agent.payable })
  const receipts = { ...options.receipts, payerScope }
  const router = new Router<RequestState>({ strict: true, sensitive: true })
  for (const [path, model] of hot) router.post(path, model)
  router.all(RESPONSES_PATH, socketRoute(options.socket))
  addStoredResponses(router, options.storedResponses)
  router.post('/v1/messages/count_tokens', countTokensRoute(relay))
  router.get('/v1/models', modelsRoute(models))
  router.get('/v1/models/{*name}', modelByNameRoute(models))
  router.get('/v1/receipts', receiptsRoute(receipts))
  router.get('/v1/receipts/:id', receiptRoute(receipts))
  router.get('/.well-known/turnpike-keys', receiptKeysRoute(receipts))
  addLedgerRoutes(router, options.receipts.receipts)
  router.get('/health', healthRoute(health))
  router.get(READY_PATH, readyRoute(options.readiness))
  router.get('/metrics', metricsRoute(options.metrics))
  router.get('/openapi.json', openapiRoute(options.documents))
  router.get('/llms.txt', llmsRoute(options.documents))
  router.head('/', alive)
  router.head('/api/hello', alive)
  if (options.accounts === undefined) addLocalRoutes(router)
  else addAccountRoutes(router, { ...options.accounts, intake: intakes.callers })
  if (options.billing !== undefined) addBilling(router, { ...options.billing, intakes })
  if (agent !== undefined) addAgentRoutes(router, agent)
  if (options.signIn !== undefined) addSignIn(router, options.signIn, intakes)
  if (options.dashboard !== undefined && options.signIn !== undefined) addSignInPages(router, options.signIn, intakes)
  if (options.dashboard !== undefined) addDashboard(router, options.dashboard, intakes.callers)
  for (const path of allowedRoutes) {
    for (const pattern of [path, `${path}/{*rest}`]) {
      router.get(pattern, allowedRoute(relay)).post(pattern, allowedRoute(relay)).delete(pattern, allowedRoute(relay))
    }
  }
  router.all(
    ['/v1/messages/batches', '/v1/messages/batches/{*rest}', '/v1/files', '/v1/files/{*rest}'],
    routeNotAllowed,
  )
  return router
}

function addStoredResponses(router: Router<RequestState>, options: StoredResponseRouteOptions): void {
  const stored = storedResponseRoute(options)
  router.get(`${RESPONSES_PATH}/:id`, stored).delete(`${RESPONSES_PATH}/:id`, stored)
  router.get(`${RESPONSES_PATH}/:id/input_items`, stored)
  router.post(`${RESPONSES_PATH}/:id/cancel`, stored)
}

function addLedgerRoutes(router: Router<RequestState>, receipts: LedgerRouteOptions): void {
  const ledger = ledgerRoutes(receipts)
  router.get('/.well-known/turnpike-ledger', ledger.head)
  router.get('/v1/ledger/inclusion', ledger.inclusion)
  router.get('/v1/ledger/consistency', ledger.consistency)
}

/** Adds the routes of accounts; in local mode they reply that there are none. */
function addLocalRoutes(router: Router<RequestState>): void {
  router.get('/v1/billing/balance', localBalance)
  router.all(['/v1/billing', '/v1/billing/{*rest}'], billingUnavailable)
  router.all(['/v1/keys', '/v1/keys/{*rest}', '/v1/admin/{*rest}'], keysUnavailable)
}

function addAccountRoutes(router: Router<RequestState>, accounts: KeyRouteOptions): void {
  router.post('/v1/keys', createKeyRoute(accounts)).get('/v1/keys', listKeysRoute(accounts))
  router.post('/v1/keys/:id/rotate', rotateKeyRoute(accounts))
  addAdmin(router, accounts.admin, accounts.intake)
  router.patch('/v1/keys/:id', changeKeyRoute(accounts)).delete('/v1/keys/:id', revokeKeyRoute(accounts))
}

function addBilling(router: Router<RequestState>, billing: BillingRouteOptions): void {
  router.post('/v1/billing/checkout', checkoutRoute(billing))
  router.post('/v1/billing/portal', portalRoute(billing))
  router.get('/v1/billing/balance', balanceRoute(billing))
  router.patch('/v1/billing/auto-recharge', autoRechargeRoute(billing))
  router.post('/v1/billing/webhook', webhookRoute(billing))
}

function addAgentRoutes(router: Router<RequestState>, agent: AgentOptions): void {
  const { payable, discovery, wallet } = agent
  if (wallet !== undefined) {
    router.use(['/.well-known/mpp', '/v1/agent'], markSandbox)
    router.post(SANDBOX_TOKENS_PATH, sandboxTokenRoute({ ...agent, wallet }))
  }
  router.get('/.well-known/mpp', discoveryRoute(discovery))
  router.get('/v1/agent/ledger', ledgerRoute(agent))
  router.post('/v1/agent/quote', quoteRoute(agent))
  if (payable === undefined) return
  const paid = { ...agent, ...payable }
  router.post(AGENT_PATH, agentRoute(paid))
  router.post(SESSIONS_PATH, openSessionRoute(paid)).get(SESSIONS_PATH, sessionRoute(paid))
}

/** Adds the routes that clients probe at their start. */
const alive: Middleware = function alive(ctx: Context) {
  ctx.status = 200
  ctx.body = ''
}

function corsFor(origins: readonly string[]): Middleware {
  const allowed = new Set(origins)
  return cors({
    origin: (ctx) => {
      const origin = ctx.get('origin')
      return allowed.has('*') || allowed.has(origin) ? origin : ''
    },
    exposeHeaders: [
      'request-id',
      'x-svc-pipe',
      'x-svc-idle',
      'x-svc-receipt',
      'x-svc-cache',
      'x-svc-patterns',
      'x-svc-redact',
      'x-svc-model',
      'x-svc-dropped',
      'retry-after',
      'www-authenticate',
      'payment-receipt',
    ],
    keepHeadersOnError: false,
    maxAge: 600,
  })
}

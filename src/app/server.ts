import type { IncomingMessage, Server } from 'node:http'
import { listenHost } from '../config/reach.ts'
import type { Config } from '../config/schema.ts'
import type { Channel } from '../core/ports/channel.ts'
import type { StoredResponses } from '../core/ports/stored-responses.ts'
import type { Conversations } from '../core/request/conversation/conversations.ts'
import { isLoopback } from '../core/system/listen-address.ts'
import { createChatDialect } from '../dialects/chat/dialect.ts'
import { createMessagesDialect } from '../dialects/messages/dialect.ts'
import { createSummarySeal } from '../dialects/responses/compact/summary-seal.ts'
import { createResponsesDialect } from '../dialects/responses/dialect.ts'
import { createHttpApp, RESPONSES_PATH } from '../http/app.ts'
import { BodyIntake, type Intakes } from '../http/body-intake.ts'
import { forProvider } from '../http/credential.ts'
import type { DashboardOptions } from '../http/dashboard/routes.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import type { Readiness } from '../http/readiness.ts'
import { ResponseStates } from '../http/responses/response-states.ts'
import type { BillingRouteParts } from '../http/routes/billing.ts'
import { createHttpServer } from '../http/server.ts'
import { toServedSettings } from '../http/sign-in/managed-settings.ts'
import type { SignInRouteOptions } from '../http/sign-in/routes.ts'
import { ResponseSockets, type ResponseSocketsOptions } from '../http/sockets/sockets.ts'
import { isHandshake } from '../http/sockets/upgrades.ts'
import type { Journal } from '../journal/journal.ts'
import { ModelCatalogue } from '../providers/model-catalogue.ts'
import { createContextWindows } from '../spend/prices/context-windows.ts'
import { createListedPrices } from '../spend/prices/listed-price.ts'
import type { Accounts } from './accounts.ts'
import type { AgentPayments } from './agent-payments.ts'
import type { App, AppOptions } from './app.ts'
import { type DashboardIntake, knownHostsOf } from './dashboard.ts'
import type { Spend } from './spend.ts'
import { metricsRouteOf, type Telemetry } from './telemetry.ts'

/** Subsystems that serve requests. */
export interface ServerParts extends Pick<App, 'pipelines' | 'providers' | 'registry'> {
  limits: RequestLimits
  intakes: Intakes
  spend: Spend
  telemetry: Telemetry
  accounts: Accounts
  billing: BillingRouteParts | undefined
  agentPayments: AgentPayments | undefined
  capture: DashboardIntake['capture']
  requests: DashboardIntake['requests']
  dashboard: DashboardOptions | undefined
  readiness: Readiness
  /** Recognises the conversations of requests. */
  conversations: Conversations
  /** Responses that callers can continue. */
  responses: StoredResponses
  /** Runs what follows replies. */
  journal: Journal
  /** Channel to the other workers on this port. */
  workers: Channel | undefined
}

/** Creates the HTTP server with all routes; does not listen yet. */
export function createServer(
  { config, log, clock, observers, startedAtMs }: AppOptions,
  {
    pipelines,
    providers,
    registry,
    limits,
    intakes,
    spend,
    telemetry,
    accounts,
    billing,
    agentPayments,
    capture,
    requests,
    dashboard,
    readiness,
    workers,
    journal,
    conversations,
    responses: stored,
  }: ServerParts,
): { server: Server; sockets: ResponseSockets } {
  const { authenticate } = accounts
  const { receipts, recorder, metrics } = telemetry
  const shared = {
    authenticate,
    limits,
    receipts,
    quotaCharges: spend.quotaCharges,
    conversations,
    capture,
    inFlight: requests,
    targetsOf: (model: string) => providers.targetsOf(model),
    callerParts: providers.callerParts,
    intakes,
    send: { pingIntervalMs: config.server.ping_interval },
  }
  const messages = createMessagesDialect()
  const translated = {
    defaultMaxTokens: config.providers.default_max_tokens,
    modelNamed: (name: string) => providers.targetsOf(name)[0].model,
    nowMs: () => clock.nowMs(),
  }
  const chat = createChatDialect(translated)
  const seal = createSummarySeal(telemetry.signingKey)
  const sealing = { ...translated, seal, keepsResponses: config.responses.keep }
  const responses = createResponsesDialect(sealing)
  const compact = createResponsesDialect({ ...sealing, isCompact: true })
  const states = new ResponseStates({
    responses: stored,
    dialect: responses,
    provider: (name) => providers.get(name),
    keeps: config.responses.keep,
    count: (sender, drop) => intakes.callers.count(sender, drop),
    mostBytes: config.responses.largest,
    log,
  })
  const sockets = openSockets(config, {
    dialect: responses,
    nowMs: () => clock.nowMs(),
    count: (sender, drop) => intakes.callers.count(sender, drop),
  })
  const catalogue = new ModelCatalogue(providers, log)
  const app = createHttpApp({
    messages: { ...shared, recorder, route: 'messages', dialect: messages, pipelines },
    chat: { ...shared, recorder, route: 'chat', dialect: chat, pipelines },
    responses: {
      ...shared,
      recorder,
      route: 'responses',
      dialect: responses,
      pipelines,
      states,
      watch: (exchange) => states.watch(exchange),
      watchUpstream: (exchange, reply) => states.watchProviders(exchange, reply),
    },
    socket: { ...shared, dialect: responses, sockets },
    storedResponses: { ...shared, states, provider: (name) => providers.get(name), dialect: responses },
    compact: { ...shared, recorder, route: 'responses', dialect: compact, pipelines, states },
    relay: {
      ...shared,
      pipelines,
      provider: (name) => providers.get(name),
      dialect: messages,
      defaultProvider: providers.fallback,
    },
    models: {
      authenticate,
      limits,
      list: (call) => catalogue.list({ ...call, credential: forProvider(call.credential, providers.fallback) }),
      facts: {
        targetOf: (id) => providers.targetIfAny(id),
        contextWindowOf: createContextWindows(),
        priceOf: createListedPrices(spend.prices, () => clock.nowMs()),
      },
      outputTokens: config.providers.default_max_tokens,
      find: (id, call) => catalogue.find(id, { ...call, credential: forProvider(call.credential, providers.fallback) }),
    },
    receipts: shared,
    plugins: { authenticate, limits, registry },
    accounts: accounts.routes,
    billing,
    agent: agentPayments && {
      ...shared,
      ...agentPayments,
      recorder,
      dialect: messages,
      pipelines,
      nowMs: () => clock.nowMs(),
    },
    signIn: signInOf(accounts, dashboard, {
      ...shared,
      capsOf: spend.capsOf,
      ledger: spend.ledger,
      keepsRecords: telemetry.store !== undefined,
      managedSettings: toServedSettings(config.sign_in.managed_settings),
    }),
    dashboard,
    health: { build: config.build, startedAtMs, providers: () => providers.all },
    documents: {
      version: config.build,
      publicUrl: config.server.public_url,
      mode: config.mode,
      amountCents: agentPayments?.payable && agentPayments.prices.callCents,
      isSandbox: agentPayments?.wallet !== undefined,
      hasSignIn: accounts.signIn !== undefined,
    },
    intakes,
    readiness,
    corsOrigins: config.server.cors_origins,
    knownHosts: knownHostsOf(config),
    isOnLoopback: isLoopback(listenHost(config)),
    allowedRoutes: config.providers.allow_routes,
    metrics: metricsRouteOf({ metrics, journal, workers }, config),
    enter: () => metrics?.enter(),
    observe: (record) =>
      journal.add(() => {
        telemetry.observe(record)
        for (const observer of observers) observer(record)
      }, record.exchange?.original.length),
  })
  const isSocket = (request: IncomingMessage) => isHandshake(request, RESPONSES_PATH)
  return { server: createHttpServer(app.callback(), { ...config.server, isSocket }), sockets }
}

/** Joins the parts of sign-in with the viewer, which operators' routes need, and with the limits of callers. */
function signInOf(
  { signIn, routes, people }: Accounts,
  dashboard: DashboardOptions | undefined,
  callers: Omit<SignInRouteOptions['clients'], 'store' | 'teamsOf' | 'clock'> & { keepsRecords: boolean },
): SignInRouteOptions | undefined {
  if (signIn === undefined || routes === undefined || people === undefined || dashboard === undefined) return undefined
  const teamsOf = (userId: string) => people.memberships({ accountIds: [userId] })
  const clients = { ...callers, store: callers.keepsRecords ? people : undefined, teamsOf, clock: signIn.clock }
  return { ...signIn, session: routes.session, viewer: dashboard.viewer, clients }
}

function openSockets(
  { server, responses }: Config,
  parts: Pick<ResponseSocketsOptions, 'dialect' | 'nowMs' | 'count'>,
): ResponseSockets {
  const { most, most_of_caller: mostOfCaller, idle, lifetime } = responses.sockets
  return new ResponseSockets({
    ...parts,
    most,
    mostOfCaller,
    mostBytes: server.body_limit,
    bounds: {
      idleMs: idle,
      lifetimeMs: lifetime,
      pingMs: server.ping_interval,
      stallMs: server.stall_timeout,
      mostRemembered: responses.largest,
    },
  })
}

/** Creates the intakes of request bodies: of callers, and of clients without a valid credential. */
export function createIntakes({ server }: Config): Intakes {
  const { unpaid_bodies: unpaid } = server
  return {
    callers: new BodyIntake({ limitBytes: server.body_limit, budgetBytes: server.bodies_at_once }),
    strangers: new BodyIntake({ limitBytes: unpaid.limit, budgetBytes: unpaid.at_once, timeoutMs: unpaid.timeout }),
  }
}

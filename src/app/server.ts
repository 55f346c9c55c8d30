import type { Server } from 'node:http'
import { listenHost } from '../config/reach.ts'
import { isLoopback } from '../core/system/listen-address.ts'
import { createChatDialect } from '../dialects/chat/dialect.ts'
import { createMessagesDialect } from '../dialects/messages/dialect.ts'
import { createHttpApp } from '../http/app.ts'
import { forProvider } from '../http/credential.ts'
import type { DashboardOptions } from '../http/dashboard/routes.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import type { Readiness } from '../http/readiness.ts'
import type { BillingRouteParts } from '../http/routes/billing.ts'
import { createHttpServer } from '../http/server.ts'
import { ModelCatalogue } from '../providers/model-catalogue.ts'
import type { Identity } from './accounts.ts'
import type { Tolling } from './agent-payments.ts'
import type { App, AppOptions } from './app.ts'
import { type DashboardIntake, knownHostsOf } from './dashboard.ts'
import { openIntakes } from './limits.ts'
import type { Accounting } from './spend.ts'
import { metricsRouteOf, type Recording } from './telemetry.ts'

/** The parts that requests are served with. */
export interface ServerParts extends Pick<App, 'pipelines' | 'providers' | 'registry'>, Pick<Accounting, 'fees'> {
  limits: RequestLimits
  recording: Recording
  identity: Identity
  paying: BillingRouteParts | undefined
  tolling: Tolling | undefined
  capture: DashboardIntake['capture']
  dashboard: DashboardOptions | undefined
  readiness: Readiness
}

/** Creates the HTTP server with all routes; it does not listen yet. */
export function createServer(
  { config, log, clock, observers, startedAtMs }: AppOptions,
  {
    pipelines,
    providers,
    registry,
    limits,
    recording,
    identity,
    paying,
    fees,
    tolling,
    capture,
    dashboard,
    readiness,
  }: ServerParts,
): Server {
  const { authenticate, accounts } = identity
  const { receipts, recorder, metrics } = recording
  const intakes = openIntakes(config)
  const shared = {
    authenticate,
    limits,
    receipts,
    fees,
    capture,
    targetsOf: (model: string) => providers.targetsOf(model),
    callerParts: providers.callerParts,
    intakes,
    send: { pingIntervalMs: config.server.ping_interval },
  }
  const messages = createMessagesDialect()
  const chat = createChatDialect({
    defaultMaxTokens: config.providers.default_max_tokens,
    modelNamed: (name) => providers.targetsOf(name)[0].model,
    nowMs: () => clock.nowMs(),
  })
  const catalogue = new ModelCatalogue(providers, log)
  const app = createHttpApp({
    messages: { ...shared, recorder, route: 'messages', dialect: messages, pipelines },
    chat: { ...shared, recorder, route: 'chat', dialect: chat, pipelines },
    relay: {
      ...shared,
      provider: (name) => providers.get(name),
      dialect: messages,
      defaultProvider: providers.fallback,
    },
    models: {
      authenticate,
      limits,
      list: (call) => catalogue.list({ ...call, credential: forProvider(call.credential, providers.fallback) }),
      find: (id, call) => catalogue.find(id, { ...call, credential: forProvider(call.credential, providers.fallback) }),
    },
    receipts: shared,
    plugins: { authenticate, limits, registry },
    accounts,
    billing: paying,
    agent: tolling && { ...shared, ...tolling, recorder, dialect: messages, pipelines, nowMs: () => clock.nowMs() },
    dashboard,
    health: { build: config.build, startedAtMs, providers: providers.all },
    documents: {
      version: config.build,
      publicUrl: config.server.public_url,
      mode: config.mode,
      amountCents: tolling?.payable && tolling.prices.callCents,
    },
    intakes,
    readiness,
    corsOrigins: config.server.cors_origins,
    knownHosts: knownHostsOf(config),
    isOnLoopback: isLoopback(listenHost(config)),
    allowedRoutes: config.providers.allow_routes,
    metrics: metricsRouteOf(metrics, config),
    enter: () => metrics?.enter(),
    observe: (record) => {
      recording.observe(record)
      for (const observer of observers) observer(record)
    },
  })
  return createHttpServer(app.callback(), config.server)
}

import path from 'node:path'
import { listOptions, typeNameOf } from '../config/options.ts'
import type { Config } from '../config/schema.ts'
import type { ByteStores } from '../core/ports/byte-store.ts'
import type { CaptureStore } from '../core/ports/capture.ts'
import type { Channel } from '../core/ports/channel.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { CaptureOptIns, createStoredCaptures } from '../http/dashboard/capture-opt-in.ts'
import type { CaptureOptions } from '../http/dashboard/capture-request.ts'
import { LiveFeed } from '../http/dashboard/live-feed.ts'
import { LivePages } from '../http/dashboard/live-pages.ts'
import { createMemoryCaptures } from '../http/dashboard/memory-captures.ts'
import { createPeerCaptures } from '../http/dashboard/peer-captures.ts'
import type { DashboardOptions } from '../http/dashboard/routes.ts'
import type { SettingsControl } from '../http/dashboard/settings/control.ts'
import { createLocalViewer, type ReadViewer } from '../http/dashboard/viewer.ts'
import { createInFlight, type InFlight, RequestsInFlight } from '../http/in-flight.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import type { Journal } from '../journal/journal.ts'
import type { Pipelines } from '../pipeline/pipelines.ts'
import type { LoadedPlugin, PluginRegistry } from '../pipeline/registry.ts'
import type { Rails } from '../pipeline/resolve.ts'
import { createPaymentBooks } from '../stores/sql/payments/payment-books.ts'
import { createBudgets } from '../stores/sql/spend/budget-store.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import type { Accounts } from './accounts.ts'
import type { AgentPayments } from './agent-payments.ts'
import { createAlertBooks } from './alerts.ts'
import type { Telemetry } from './telemetry.ts'

const BUILT_FILES = path.join(import.meta.dirname, '../../dashboard/dist')

/** Collects the data of the dashboard, also while no page is open. */
export interface DashboardIntake {
  readonly feed: LiveFeed
  readonly live: LivePages
  readonly captures: DashboardOptions['captures']
  readonly captureOptIns: CaptureOptIns | undefined
  /** Requests in flight in this process, and in all. */
  readonly requests: RequestsInFlight
  readonly inFlight: InFlight
  /** Captures bodies on the routes of models; `undefined` when capture is off. */
  readonly capture: CaptureOptions | undefined
}

/** Input of `openIntake`. */
export interface IntakeOptions {
  readonly config: Config
  readonly stores: ByteStores
  /** Channel to the other processes; `undefined`: there are none. */
  readonly channel: Channel | undefined
  /** Runs what follows replies. */
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Log
}

/** Opens the live feed and the capture store: memory in local mode, the byte store in cloud mode. */
export function openIntake({ config, stores, channel, journal, clock, log }: IntakeOptions): DashboardIntake {
  const feed = new LiveFeed()
  const live = new LivePages({ feed, channel, log })
  const requests = new RequestsInFlight()
  const shared = { feed, live, requests, inFlight: createInFlight(requests, channel) }
  const { access, capture, capture_requests: most, capture_memory: maxBytes, capture_keep: keepMs } = config.dashboard
  // Without telemetry no list of requests leads to captures.
  if (access === 'off' || !capture || !config.telemetry.enabled)
    return { ...shared, captures: undefined, captureOptIns: undefined, capture: undefined }
  if (config.mode === 'local') {
    const store = withPeers(storedLater(createMemoryCaptures({ most, maxBytes }), journal), channel)
    return { ...shared, captures: store, captureOptIns: undefined, capture: { store, isWanted: () => true } }
  }
  // With Redis all processes have the same stores.
  const peers = config.redis_url === undefined ? channel : undefined
  const optIns = new CaptureOptIns({
    store: stores.open('capture-opt-ins', { maxBytes: 1024 ** 2 }),
    keepMs,
    channel: peers,
    clock,
    log,
  })
  const captures = createStoredCaptures({ store: stores.open('captures', { maxBytes }), keepMs, log })
  const store = withPeers(storedLater(captures, journal), peers)
  const isWanted: CaptureOptions['isWanted'] = ({ userId }) => optIns.isWanted(userId)
  return { ...shared, captures: store, captureOptIns: optIns, capture: { store, isWanted } }
}

function storedLater(store: CaptureStore, journal: Journal): CaptureStore {
  return {
    put(captured) {
      const { request, reply } = captured
      journal.add(() => store.put(captured), request.bytes.length + reply.bytes.length)
    },
    async get(id) {
      journal.flush()
      return store.get(id)
    },
  }
}

function withPeers(store: CaptureStore, channel: Channel | undefined): CaptureStore {
  return channel === undefined ? store : createPeerCaptures(store, channel)
}

/** Input of `openDashboard`. */
export interface DashboardParts {
  readonly config: Config
  readonly settings: SettingsControl
  readonly clock: Clock
  readonly intake: DashboardIntake
  readonly accounts: Accounts
  readonly database: SqlStore
  readonly agentPayments: AgentPayments | undefined
  readonly limits: RequestLimits
  readonly telemetry: Telemetry
  readonly pipelines: Pipelines
  readonly registry: PluginRegistry
}

/** Creates the dashboard; returns `undefined` when it is switched off. */
export function openDashboard(parts: DashboardParts): DashboardOptions | undefined {
  const { config, intake, accounts, limits, telemetry, pipelines, registry, database, agentPayments } = parts
  const { settings, clock } = parts
  if (config.dashboard.access === 'off') return undefined
  const installed = () => registry.names.flatMap((name) => registry.get(name) ?? [])
  return {
    folder: BUILT_FILES,
    viewer: viewerOf(config, accounts),
    audit: config.mode === 'local' ? undefined : (note) => database.run('audit.append', note),
    signIn: accounts.verify && {
      verify: accounts.verify,
      limits,
      signIn: accounts.signIn,
      takesTokens: config.sessions.jwks_url !== undefined || config.sessions.secret !== undefined,
    },
    facts: {
      mode: config.mode,
      version: config.build,
      pipeline: () => pipelines.for(undefined).printed,
      plugins: () => registry.names,
      hasProvider: () => settings.hasProvider(),
      agents: agentsState(agentPayments),
      has: {
        telemetry: telemetry.store !== undefined,
        receipts: config.receipts.enabled,
        capture: intake.capture !== undefined,
        sessions: accounts.signIn !== undefined,
      },
    },
    telemetry: telemetry.store,
    receipts: telemetry.receipts,
    ...intake,
    payments: agentPayments?.books ?? createPaymentBooks(database),
    alerts: createAlertBooks({ config, database, clock }),
    budgets: createBudgets(database),
    names: config.mode === 'cloud' ? (query) => database.run('names.find', query) : undefined,
    credits: config.mode === 'cloud' ? (page) => database.run('ledger.list', page) : undefined,
    plugins: () => installed().map((plugin) => shown(plugin, pipelines.rails)),
    pluginsInDetail: () => [
      ...installed().map((plugin) => ({ ...shown(plugin, pipelines.rails), folder: plugin.folder })),
      ...registry.broken,
    ],
    settings,
    clock,
  }
}

function agentsState(payments: AgentPayments | undefined): DashboardOptions['facts']['agents'] {
  if (payments === undefined) return 'off'
  if (payments.wallet !== undefined) return 'sandbox'
  return payments.payable === undefined ? 'unpayable' : 'on'
}

/** Returns the configured host names of the gateway. */
export function knownHostsOf({ server }: Config): ReadonlySet<string> {
  return new Set([server.public_url, server.dashboard_url].flatMap((url) => (url ? [new URL(url).hostname] : [])))
}

function viewerOf(config: Config, { routes }: Accounts): ReadViewer {
  const { dashboard } = config
  if (routes === undefined) {
    // Safe: there is no dashboard with `off`.
    const access = dashboard.access as 'loopback' | 'open'
    return createLocalViewer({ access, knownHosts: knownHostsOf(config) })
  }
  return routes.admin.viewer
}

function shown({ definition, configured }: LoadedPlugin, { locked, off = [] }: Rails) {
  const { name, summary, onError, perRequest, options } = definition
  const settable: readonly string[] = perRequest
  return {
    name,
    summary,
    onError,
    isOn: locked.includes(name) || !off.includes(name),
    isLocked: locked.includes(name),
    options: listOptions(options).map(({ path: keys, schema, description, defaultValue }) => ({
      name: keys.join('.'),
      type: typeNameOf(schema).replaceAll('`', ''),
      default: defaultValue,
      isSet: (keys[0] ?? '') in configured,
      isPerRequest: settable.includes(keys[0] ?? ''),
      description,
    })),
  }
}

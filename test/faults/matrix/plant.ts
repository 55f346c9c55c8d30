import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openSqlStore, type SqlStore } from '../../../src/stores/sql/store.ts'
import { stock } from '../../billing/shop.ts'
import { agentFixtureEnvironment, type ReadChallenge } from '../../payments/agent-fixture.ts'
import { startCloudProcess } from '../../support/accounts.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { USUAL_DATABASE_TIMEOUT } from '../../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway-process.ts'
import type { Reply } from '../../support/http-client.ts'
import type { JsonObject } from '../../support/json.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { type Owner, query } from '../../support/postgres.ts'
import { holdEvent, type Script } from '../../support/provider/script.ts'
import { createRecordingLog } from '../../support/recording-log.ts'
import { createRedis } from '../../support/redis.ts'
import { querySqlite } from '../../support/sqlite.ts'
import { type Provider, startProvider } from '../../support/stand-in-provider.ts'
import { machinePayments } from '../../support/stripe/machine-payments.ts'
import { type StripeStandIn, startStripe } from '../../support/stripe/stand-in.ts'

/*
 * DESIGN. All that a service has, with a piece of network before each part that can be spoiled:
 *
 *   cloud gateway ─┬─ proxy ─ PostgreSQL, or SQLite in the plant's folder
 *   local gateway ─┤  proxy ─ Redis (with PostgreSQL)
 *                  ├─ proxy ─ provider
 *                  └─ proxy ─ Stripe
 *
 * The local gateway has a database of its own on the same server: another realm of one operator.
 */

/** Links of gateways. */
export type LinkName = 'postgres' | 'redis' | 'provider' | 'stripe'

/** Links that gateways go through. */
export type Links = Readonly<Partial<Record<LinkName, FaultProxy>>>

/** A paid call: its request, and its payment. */
export interface Purchase {
  readonly body: JsonObject
  readonly challenge: ReadChallenge
  readonly token: string
}

/** State of its clients. */
export interface Tally {
  /** Replies of models, from cloud gateways, that came whole. */
  readonly replies: Reply[]
  /** Paid calls that were answered. */
  readonly answered: Purchase[]
  /** Paid calls that must be repeated. */
  readonly owed: Set<Purchase>
}

/** A running plant. */
export interface Plant {
  readonly tally: Tally
  readonly links: Links
  readonly provider: Provider
  readonly stripe: StripeStandIn
  /** Folder of the cloud gateways' SQLite and keys. */
  readonly dataDir: string
  /** Address for the cloud gateways, past all proxies. */
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  /** Starts a gateway that uses these links, and connects directly to the servers of all others. */
  startCloud(links?: Links, env?: Readonly<Record<string, string>>): Promise<GatewayProcess>
  startLocal(links?: Links, env?: Readonly<Record<string, string>>): Promise<GatewayProcess>
  /** Sends one statement to the cloud gateways’ database, past them. */
  sql(text: string): Promise<Record<string, unknown>[]>
  /** The same to the databases of all gateways on PostgreSQL. */
  sqlEverywhere(text: string): Promise<void>
  /** Opens the cloud gateways’ database as they do; the calling code closes it. */
  openStore(): Promise<SqlStore>
  /** Sets the provider's script for requests without one of their own; `undefined`: answers. */
  providerSays(script: Script | undefined): void
  /** Releases the reply whose request contains `hold <name>`. */
  release(name: string): void
}

/** Options of a plant. */
export interface PlantOptions {
  readonly engine: 'sqlite' | 'postgres'
  /** Laid over the configuration of cloud gateways. */
  readonly config?: JsonObject
  /** Default: one that is made. */
  readonly dataDir?: string
}

const OPERATOR_KEY = 'sk-ant-operator-key'
/** The stream stops after this event until it is released. */
const HELD_EVENT = 3

/** The most that a key may spend in a day here, in USD. */
export const CAP_USD = 5
/** A cap in the configuration would lock the guard: requests without one are sent, too. */
export const CAPPED = `cost-guard?per_day=${CAP_USD}`

const CONFIG = {
  plugins: { watch: false },
  limits: { failures_per_minute: 0, requests_per_minute: 100_000 },
  mpp: { challenges_per_minute: { per_address: 0, overall: 0 } },
  // Short, so that hanging requests are given up during the test.
  providers: { timeouts: { connect: '1s', first_byte: '2s', idle: '40s' } },
}

/** Opens a plant; it ends with its owner. */
export async function openPlant(owner: Owner, { engine, config = {}, dataDir: given }: PlantOptions): Promise<Plant> {
  const dataDir = given ?? mkdtempSync(path.join(tmpdir(), 'turnpike-plant-'))
  if (given === undefined) owner.teardown(async () => rmSync(dataDir, { recursive: true, force: true }))
  const settings = mkdtempSync(path.join(tmpdir(), 'turnpike-settings-'))
  owner.teardown(async () => rmSync(settings, { recursive: true, force: true }))
  const file = path.join(settings, 'turnpike.yaml')
  writeFileSync(file, JSON.stringify({ ...CONFIG, ...config })) // JSON is YAML
  const { provider, says, release } = await openProvider(owner)
  const stripe = await startStripe({ departments: [machinePayments] })
  owner.teardown(stripe.close)
  const stores = engine === 'postgres' ? await openStores(owner) : undefined
  const { databaseUrl, redisUrl } = stores ?? {}
  const links = await openLinks(owner, {
    postgres: databaseUrl,
    redis: redisUrl,
    provider: provider.url,
    stripe: stripe.url,
  })
  const prices = stock(stripe)
  const databases = databaseUrl === undefined ? [] : [databaseUrl]
  const common = (through: Links) => ({
    ...USUAL_DATABASE_TIMEOUT,
    ANTHROPIC_API_KEY: OPERATOR_KEY,
    ANTHROPIC_BASE_URL: through.provider?.url ?? provider.url,
    SVC_CONFIG: file,
    ...(redisUrl !== undefined && { REDIS_URL: through.redis?.url ?? redisUrl }),
  })
  const stopWithOwner = (gateway: GatewayProcess) => {
    owner.teardown(async () => void (await gateway.stop()))
    return gateway
  }
  return {
    tally: { replies: [], answered: [], owed: new Set() },
    links,
    provider,
    stripe,
    dataDir,
    databaseUrl,
    redisUrl,
    providerSays: says,
    release,
    async startCloud(through = links, env = {}) {
      const gateway = await startCloudProcess({
        ...common(through),
        ...agentFixtureEnvironment(stripe),
        STRIPE_API_BASE: through.stripe?.url ?? stripe.url,
        STRIPE_PRICE_PRO: prices.pro,
        SVC_DASHBOARD_URL: 'https://app.example.com/dashboard',
        SVC_DATA_DIR: dataDir,
        ...(databaseUrl !== undefined && { DATABASE_URL: through.postgres?.url ?? databaseUrl }),
        ...env,
      })
      return stopWithOwner(gateway)
    },
    async startLocal(through = links, env = {}) {
      const own = stores && (await createMigratedDatabase())
      if (own !== undefined) databases.push(own)
      const url = through.postgres ? own?.replace(/:\d+\//, `:${through.postgres.port}/`) : own
      const database = url === undefined ? {} : { DATABASE_URL: url }
      return stopWithOwner(await startGatewayProcess({ ...common(through), ...database, ...env }))
    },
    openStore: () =>
      openSqlStore({ databaseUrl, dataDir, log: createRecordingLog(), clock: { nowMs: Date.now }, patienceMs: 60_000 }),
    async sqlEverywhere(text) {
      for (const url of databases) await query(url, text)
    },
    sql: async (text) => (databaseUrl === undefined ? querySqlite(dataDir, text) : query(databaseUrl, text)),
  }
}

async function openProvider(owner: Owner) {
  const held = new Map<string, PromiseWithResolvers<void>>()
  let general: Script | undefined
  const gate = (name: string) => {
    const known = held.get(name) ?? Promise.withResolvers<void>()
    held.set(name, known)
    return known
  }
  const provider = await startProvider({
    apiKey: OPERATOR_KEY,
    script: ({ raw, json }) => {
      const [, name] = /hold ([\w-]+)/.exec(raw.toString()) ?? []
      if (name === undefined) return general
      return { kind: 'answer', writes: holdEvent(json?.stream === true ? HELD_EVENT : 0, gate(name).promise) }
    },
  })
  owner.teardown(provider.close)
  const says = (script: Script | undefined) => {
    general = script
  }
  return { provider, says, release: (name: string) => gate(name).resolve() }
}

async function openStores(owner: Owner) {
  const [databaseUrl, redis] = await Promise.all([createMigratedDatabase(), createRedis(owner)])
  return { databaseUrl, redisUrl: redis.url }
}

async function openLinks(owner: Owner, targets: Readonly<Record<LinkName, string | undefined>>): Promise<Links> {
  const links: Partial<Record<LinkName, FaultProxy>> = {}
  for (const name of ['postgres', 'redis', 'provider', 'stripe'] as const) {
    const target = targets[name]
    if (target === undefined) continue
    const proxy = await startFaultProxy(target)
    owner.teardown(proxy.close)
    links[name] = proxy
  }
  return links
}

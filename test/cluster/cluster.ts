import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { receiptKeyFile } from '../../src/journal/receipts/signing-key.ts'
import { sendAs, startCloudProcess } from '../support/accounts.ts'
import { type Balancer, startBalancer } from '../support/balancer.ts'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import type { JsonObject } from '../support/json.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { isPostgresExpected, query } from '../support/postgres.ts'
import { createRedisDatabase, isRedisExpected } from '../support/redis.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'
import { hostOf } from './hosts.ts'

/*
 * DESIGN. One service of several machines: gateways in cloud mode, each on a host of its own with a data folder of its
 * own, which share PostgreSQL, Redis and the key of receipts, and a balancer in front that sends each request to the next.
 *
 *                         ┌─► gateway 1 ─┐
 *   test ──► balancer ──► ├─► gateway 2 ─┼─► PostgreSQL, Redis, the stand-in provider
 *                         └─► …         ─┘
 */

/** Number of gateways in a cluster: `npm run drill:cluster` has more. */
export const SIZE = isDrill ? 4 : 2

const isPossible = isPostgresExpected && isRedisExpected
/** Declares a test that needs both engines. */
export const clusterTest = isPossible ? test : test.skip

/** The operator's credential, which the stand-in receives. */
const OPERATOR_KEY = 'sk-ant-operator-key'

const WARM_AT_ONCE = 10
const WARM_MS = 20_000

/** Further options of a cluster. */
export interface ClusterOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Laid into the configuration file of all. */
  readonly config?: JsonObject
  /** True if all gateways are on this host. Default: false. */
  readonly isHere?: boolean
}

/** A running cluster; it ends with the file of tests. */
export interface Cluster {
  /** The balancer. */
  readonly url: string
  readonly balancer: Balancer
  readonly gateways: readonly GatewayProcess[]
  readonly provider: Provider
  /** One of the gateways, in turn, past the balancer. */
  next(): GatewayProcess
  /** The folder of plugins of each host. */
  readonly pluginFolders: readonly string[]
  /** The environment of a command of its operator. */
  readonly env: Readonly<Record<string, string>>
  /** Sends one statement past the gateways. */
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Replaces one as an operator does: the new one is there before the old one is sent SIGTERM; then `meanwhile` runs. */
  replace(index: number, meanwhile: () => Promise<unknown>): Promise<void>
}

const endings: (() => unknown)[] = []
test.after.always('end the cluster', async () => {
  for (const end of endings.reverse()) await end()
})

/** Opens a cluster of `SIZE` gateways. */
export async function openCluster({ env = {}, config = {}, isHere = false }: ClusterOptions = {}): Promise<Cluster> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-cluster-'))
  endings.push(() => rmSync(folder, { recursive: true, force: true }))
  const [databaseUrl, redisUrl, provider, balancer] = await Promise.all([
    createMigratedDatabase(),
    createRedisDatabase(),
    startProvider({ apiKey: OPERATOR_KEY }),
    startBalancer(),
  ])
  endings.push(provider.close, balancer.close)
  const shared = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: OPERATOR_KEY,
    ...env,
  }
  const machine = (index: number) => openMachine(path.join(folder, String(index)), config)
  const machines = Array.from({ length: SIZE }, (_, index) => machine(index))
  const start = async (index: number) => {
    const { environment, keyFile } = machines[index] as Machine // safe: there are as many
    const first = machines[0] as Machine
    if (!existsSync(keyFile) && existsSync(first.keyFile)) copyFileSync(first.keyFile, keyFile)
    const gateway = await startCloudProcess({ ...shared, ...environment }, { host: hostOf(index, { isHere }) })
    endings.push(() => gateway.stop())
    return gateway
  }
  // The first one makes the key of receipts.
  const gateways = [await start(0)]
  gateways.push(...(await Promise.all(machines.slice(1).map((_, index) => start(index + 1)))))
  for (const gateway of gateways) await warm(gateway)
  for (const { url } of gateways) balancer.add(url)
  await balancer.ready(SIZE)
  let turn = 0
  return {
    url: balancer.url,
    balancer,
    gateways,
    provider,
    next: () => gateways[turn++ % gateways.length] as GatewayProcess, // safe: within
    env: { ...shared, ...machines[0]?.environment },
    pluginFolders: machines.map(({ pluginFolder }) => pluginFolder),
    sql: (text) => query(databaseUrl, text),
    async replace(index, meanwhile) {
      const old = gateways[index] as GatewayProcess // safe: the caller counts them
      const replacement = await start(index)
      balancer.add(replacement.url)
      await balancer.ready(SIZE + 1)
      process.kill(old.pid, 'SIGTERM')
      await meanwhile()
      await old.exited
      balancer.remove(old.url)
      gateways[index] = replacement
    },
  }
}

/**
 * Lets a gateway open its connections to the database before a test sends it many requests at once: here all machines
 * are one, which may be busy with other files of tests.
 */
async function warm({ url }: GatewayProcess): Promise<void> {
  const path = '/v1/billing/balance'
  const ask = () => sendAs('warm', url, { method: 'GET', path, timeoutMs: WARM_MS })
  const areAnswered = async () =>
    (await Promise.all(Array.from({ length: WARM_AT_ONCE }, ask))).every(({ status }) => status === 200)
  await eventually(areAnswered, `${url} answers ${WARM_AT_ONCE} at once`)
}

interface Machine {
  readonly environment: Readonly<Record<string, string>>
  readonly pluginFolder: string
  readonly keyFile: string
}

/** Opens the disk of a host. Its configuration is the same on all but for its folder of plugins. */
function openMachine(folder: string, config: JsonObject): Machine {
  const [dataFolder, pluginFolder] = [path.join(folder, 'data'), path.join(folder, 'plugins')]
  for (const each of [dataFolder, pluginFolder]) mkdirSync(each, { recursive: true })
  const file = path.join(folder, 'turnpike.yaml')
  // Tests are refused on purpose, all from one address. JSON is YAML.
  writeFileSync(file, JSON.stringify({ limits: { failures_per_minute: 0 }, ...config }))
  return {
    environment: { SVC_DATA_DIR: dataFolder, SVC_CONFIG: file, SVC_PLUGINS_DIR: pluginFolder },
    pluginFolder,
    keyFile: receiptKeyFile(dataFolder),
  }
}

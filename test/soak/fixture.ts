import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { receiptKeyFile } from '../../src/journal/receipts/signing-key.ts'
import { agentFixtureEnvironment } from '../payments/agent-fixture.ts'
import { startCloudProcess } from '../support/accounts.ts'
import { OPERATOR_KEY } from '../support/fixture.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { createPluginDirectory, type PluginDirectory } from '../support/plugin-folders.ts'
import { createPostgres, query } from '../support/postgres.ts'
import { createRedis } from '../support/redis.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'
import { machinePayments } from '../support/stripe/machine-payments.ts'
import { type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'
import { Mischief } from './mischief.ts'
import { hoarder } from './plugins.ts'
import type { Chance } from './random.ts'
import { buildShortDay, FEW, type ShortDay } from './short-day.ts'

/** SQLite in one process, or PostgreSQL and Redis shared by two. */
export type EngineName = 'sqlite' | 'postgres'

/** A gateway of the soak, and the places of its facts. */
export interface Node {
  readonly gateway: GatewayProcess
  readonly factsFile: string
}

/** Servers of the soak. */
export interface Fixture {
  readonly nodes: readonly [Node, ...Node[]]
  readonly provider: Provider
  readonly mischief: Mischief
  /** Stripe for agents without an account. */
  readonly stripe: StripeStandIn
  readonly plugins: PluginDirectory
  /** Data folder of each process; the first one's with SQLite holds the database. */
  readonly dataFolders: readonly [string, ...string[]]
  /** Temporary folder of the processes. */
  readonly temporaryFolder: string
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  close(): Promise<void>
}

/** Options of a fixture. */
export interface FixtureOptions extends ShortDay {
  readonly engine: EngineName
  readonly chance: Chance
  /** Adds a plugin that keeps every body to the pipeline: then the soak must fail. */
  readonly leaks: boolean
}

/** Interval of a process's facts. */
const SHORTEST_MS = 1000

/** Token of the scraper. */
export const METRICS_TOKEN = 'the-token-of-scrapers-of-the-soak'

/** Starts everything. If one part cannot be started, the others are stopped. */
export async function openFixture(options: FixtureOptions): Promise<Fixture> {
  const endings: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end()
  }
  try {
    return { ...(await open(options, (end) => void endings.push(end))), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function open(options: FixtureOptions, later: (end: () => unknown) => void): Promise<Omit<Fixture, 'close'>> {
  const { engine, chance } = options
  const owner = { teardown: later }
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-soak-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  const mischief = new Mischief(chance)
  const provider = await startProvider({ apiKey: OPERATOR_KEY, script: (request) => mischief.script(request) })
  later(() => provider.close())
  const stripe = await startStripe({ departments: [machinePayments] })
  later(() => stripe.close())
  const plugins = createPluginDirectory(owner, options.leaks ? { 'hoarder/index.ts': hoarder } : {})
  const isShared = engine === 'postgres'
  const databaseUrl = isShared ? await createDatabase(owner) : undefined
  const redisUrl = isShared ? (await createRedis(owner)).url : undefined
  const temporaryFolder = path.join(folder, 'tmp')
  mkdirSync(temporaryFolder)
  const env = {
    ...environment(options, { folder, provider, plugins }),
    ...agentFixtureEnvironment(stripe),
    TMPDIR: temporaryFolder,
    // As `npm start` and the image set them, and the size of new objects below.
    MALLOC_MMAP_THRESHOLD_: '1048576',
    MALLOC_ARENA_MAX: '1',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
  }
  const dataFolders: Fixture['dataFolders'] = isShared
    ? [path.join(folder, 'data-1'), path.join(folder, 'data-2')]
    : [path.join(folder, 'data-1')]
  const project = path.join(folder, 'project')
  mkdirSync(project)
  const entry = buildShortDay(project, options)
  const nodes: Node[] = []
  for (const dataDir of dataFolders) {
    const factsFile = `${dataDir}.facts`
    const first = receiptKeyFile(dataFolders[0])
    mkdirSync(dataDir, { recursive: true })
    if (dataDir !== dataFolders[0]) copyFileSync(first, receiptKeyFile(dataDir))
    const gateway = await startCloudProcess({ ...env, SVC_DATA_DIR: dataDir, SOAK_FACTS: factsFile }, { entry })
    later(() => gateway.stop())
    nodes.push({ gateway, factsFile })
  }
  const started = nodes as unknown as Fixture['nodes'] // safe: one for each folder, of which there is at least one
  return {
    nodes: started,
    provider,
    mischief,
    stripe,
    plugins,
    dataFolders,
    temporaryFolder,
    databaseUrl,
    redisUrl,
  }
}

interface Surroundings {
  readonly folder: string
  readonly provider: Provider
  readonly plugins: PluginDirectory
}

function environment({ sweepMs, keepMs, leaks }: FixtureOptions, surroundings: Surroundings): Record<string, string> {
  const { folder, provider, plugins } = surroundings
  const config = path.join(folder, 'turnpike.yaml')
  writeFileSync(config, JSON.stringify(configuration(keepMs))) // JSON is YAML
  return {
    NODE_OPTIONS: `--max-semi-space-size=16 --import=${pathToFileURL(writePreload(folder)).href}`,
    // Its files have paths of their own, which no later start has.
    NODE_COMPILE_CACHE: path.join(folder, 'compiled'),
    // As often as old rows go: a pause of some 50 ms each time is no 1 % of the requests.
    SOAK_COLLECT_MS: String(Math.max(SHORTEST_MS, sweepMs)),
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: OPERATOR_KEY,
    SVC_CONFIG: config,
    SVC_PLUGINS_DIR: plugins.path,
    SVC_METRICS_TOKEN: METRICS_TOKEN,
    SVC_PIPELINE: leaks ? `hoarder,${FULL_PIPELINE}` : FULL_PIPELINE,
    LOG_LEVEL: 'warn',
  }
}

/** Writes the preload as JavaScript: one in TypeScript would load Node's compiler into each thread, 20 MB in all. */
function writePreload(folder: string): string {
  const preload = path.join(folder, 'inside.mjs')
  writeFileSync(preload, stripTypeScriptTypes(readFileSync(path.join(import.meta.dirname, 'inside.ts'), 'utf8')))
  return preload
}

/** Returns a configuration in which all retention ends within the run, and caches fill in its first half. No cap refuses. */
function configuration(keepMs: number): object {
  const keep = `${keepMs}ms`
  return {
    receipts: { keep },
    telemetry: { keep },
    costs: { per_day: 100_000, user_per_day: 100_000, per_request: 1000 },
    plans: { pro: { included_calls: 20, credits_per_call: 10 } },
    mpp: { challenges_per_minute: { per_address: 0, overall: 0 } },
    limits: { requests_per_minute: 6000, failures_per_minute: 0 },
    plugins: {
      watch: true,
      'exact-cache': { ttl: keep, max_memory: '4MB' },
      'semantic-cache': { ttl: keep, max_memory: '4MB', max_disk: '4MB' },
      compress: { max_memory: '4MB' },
      patterns: { max_memory: '1MB' },
      'prompt-cache': { max_conversations: FEW },
    },
  }
}

/** Creates a database with as many vacuums in the run as in a day. */
async function createDatabase(owner: { teardown(end: () => Promise<void>): void }): Promise<string> {
  const url = await (await createPostgres(owner)).createDatabase()
  await query(url, `alter system set autovacuum_naptime = '2s'`)
  await query(url, 'select pg_reload_conf()')
  return url
}

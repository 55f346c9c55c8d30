// Rig that measures the figures for sizing: a gateway in cloud mode with PostgreSQL and Redis, all on this machine.
//
//   load ──► gateway (1 … n processes on one port) ──► upstream          each box processes of its own,
//               ├──► PostgreSQL                                          each with its own account of CPU
//               └──► Redis
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { bearer, createKey, startCloudProcess } from '../../test/support/accounts.ts'
import { createPostgres, query } from '../../test/support/postgres.ts'
import { createRedis } from '../../test/support/redis.ts'
import type { Case } from '../cases.ts'
import { startUpstream } from '../gateway-process.ts'
import type { Result, Traffic } from '../load.ts'
import { startLoad } from '../load-process.ts'
import {
  cpuMicroseconds,
  cpuMicrosecondsWithEnded,
  loopMicroseconds,
  pidsOf,
  processTree,
} from '../process-accounting.ts'

export interface RigOptions {
  /** Processes on the gateway's port. */
  workers: number
  /** Overrides of the gateway's environment. */
  env?: Record<string, string>
  /** Environment of the upstream. */
  upstream?: Record<string, string>
}

/** Load on a rig. */
export interface Drive {
  case: Case
  /** Undefined: the gateway's default. */
  pipeline?: string
  /** Set when all requests differ; equal ones are hits. */
  unique: boolean
  requests: number
  /** Default: as fast as replies arrive. */
  requestsPerSecond?: number
}

/** Cumulative work of a rig's components. Times are CPU microseconds. */
export interface Reading {
  loop: number
  gateway: number
  postgres: number
  redis: number
  /** Upstream and load generator. */
  surroundings: number
  transactions: number
  commands: number
  receiptBytes: number
  telemetryBytes: number
  redisBytes: number
}

export interface Rig extends AsyncDisposable {
  /** Runs the load and returns its cost. Throws when more than one reply in 200 was incomplete. */
  drive(drive: Drive): Promise<{ result: Result; took: Reading; seconds: number }>
  /** Processes of the gateway. */
  pids(): number[]
  origin: string
  headers: Record<string, string>
}

const TELEMETRY_TABLES = `select coalesce(sum(pg_total_relation_size(c.oid)) filter (where relname = 'receipt' or relname like 'receipt\\_%'), 0)::float8 receipt,
  coalesce(sum(pg_total_relation_size(c.oid)) filter (where relname like 'usage\\_%'), 0)::float8 telemetry
  from pg_class c join pg_namespace n on n.oid = relnamespace where relkind = 'r' and nspname = 'public'`
const TRANSACTIONS = `select xact_commit::float8 n from pg_stat_database where datname = current_database()`
/** Delay of PostgreSQL's statistics and of the gateway's own batches, in milliseconds. */
const SETTLE_MS = 1500
const ENOUGH_CALLS = 'plans: { free: { included_calls: 1000000000 } }'
const LARGEST_FAILURE_SHARE = 0.005

/** Starts all components; disposing of the rig ends them. */
export async function openRig({ workers, env = {}, upstream: how = {} }: RigOptions): Promise<Rig> {
  const owned = new AsyncDisposableStack()
  const teardown = (end: () => Promise<void>) => owned.defer(end)
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-sizing-'))
  owned.defer(() => rmSync(folder, { recursive: true, force: true }))
  const postgres = await createPostgres({ teardown })
  const redis = await createRedis({ teardown })
  const databaseUrl = await postgres.createDatabase()
  const client = createClient({ url: redis.url })
  await client.connect()
  owned.defer(() => client.destroy())
  const config = join(folder, 'turnpike.yaml')
  writeFileSync(config, ENOUGH_CALLS)
  const upstream = await startUpstream(folder, how)
  owned.defer(() => upstream.stop())
  const gateway = await startCloudProcess(
    {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redis.url,
      ANTHROPIC_BASE_URL: upstream.origin,
      ANTHROPIC_API_KEY: 'x',
      SVC_RATE_LIMIT: '0',
      SVC_CONFIG: config,
      ...env,
    },
    { args: workers > 1 ? ['--workers', String(workers)] : [] },
  )
  owned.defer(async () => void (await gateway.stop()))
  const load = startLoad()
  owned.defer(() => load.stop())
  const { key } = await createKey(gateway, 'bench')
  const headers = { ...bearer(key), 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  const pids = () => processTree(gateway.pid)

  const read = async (): Promise<Reading> => {
    const all = processTree(process.pid)
    const [own, database, cache] = [pids(), pidsOf('postgres', all), pidsOf('redis-server', all)]
    const [tables, [commits], info] = await Promise.all([
      query(databaseUrl, TELEMETRY_TABLES),
      query(databaseUrl, TRANSACTIONS),
      client.info(),
    ])
    const infoOf = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
    const gatewayCpu = cpuMicroseconds(own)
    return {
      loop: loopMicroseconds(own),
      gateway: gatewayCpu,
      postgres: cpuMicrosecondsWithEnded(database),
      redis: cpuMicroseconds(cache),
      surroundings: cpuMicroseconds([...upstream.pids(), load.pid]),
      transactions: Number(commits?.n),
      commands: infoOf('total_commands_processed'),
      receiptBytes: Number(tables[0]?.receipt),
      telemetryBytes: Number(tables[0]?.telemetry),
      redisBytes: infoOf('used_memory'),
    }
  }

  const drive = async ({ case: kind, pipeline, unique, requests, requestsPerSecond }: Drive) => {
    const traffic: Traffic = {
      origin: gateway.url,
      path: '/v1/messages',
      headers: { ...headers, ...(pipeline !== undefined && { 'x-svc-pipe': pipeline }) },
      wording: { dialect: 'messages', model: 'claude-sonnet-4-5' },
      case: { ...kind, requestsPerSecond: requestsPerSecond ?? kind.requestsPerSecond },
      unique,
      leastReplyBytes: 500,
    }
    const before = await read()
    const startMs = performance.now()
    const result = await load.run(
      requestsPerSecond === undefined
        ? { kind: 'count', traffic, requestCount: requests, pids: [] }
        : { kind: 'pace', traffic, requestCount: requests },
    )
    const seconds = (performance.now() - startMs) / 1000
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    const after = await read()
    if (result.failures > requests * LARGEST_FAILURE_SHARE)
      throw new Error(`${result.failures} of ${result.requests} failed: ${result.failure}`)
    const names = Object.keys(after) as (keyof Reading)[] // safe: a reading's own names
    const took = Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as Reading // safe: all of them
    return { result, took, seconds }
  }

  return {
    origin: gateway.url,
    headers,
    drive,
    pids,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

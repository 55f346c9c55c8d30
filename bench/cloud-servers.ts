import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createPostgres } from '../test/support/postgres.ts'
import { createRedis } from '../test/support/redis.ts'
import { startUpstream } from './gateway-process.ts'

const endings: (() => unknown)[] = []

/** Owner of servers that end with `withCloudServers`. */
export const owner = { teardown: (end: () => unknown) => void endings.push(end) }

/** Servers, and the environment that gateways in front of them have in common. */
export type CloudServers = Awaited<ReturnType<typeof startServers>>

/** Starts PostgreSQL, Redis and an upstream, runs `measure`, and ends them with all else that has this module's owner. */
export async function withCloudServers(measure: (servers: CloudServers) => Promise<void>): Promise<void> {
  try {
    await measure(await startServers())
  } finally {
    for (const end of endings.reverse()) await end()
  }
}

async function startServers() {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
  owner.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [postgres, redis, upstream] = await Promise.all([
    createPostgres(owner),
    createRedis(owner),
    startUpstream(folder),
  ])
  owner.teardown(upstream.stop)
  const config = path.join(folder, 'turnpike.yaml')
  writeFileSync(config, JSON.stringify({ log_level: 'warn', plans: { free: { included_calls: 1e9 } } })) // JSON is YAML
  // All gateways on a database have one key of receipts.
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const env = {
    ANTHROPIC_BASE_URL: upstream.origin,
    ANTHROPIC_API_KEY: 'x',
    SVC_RATE_LIMIT: '1000000',
    SVC_CONFIG: config,
    SVC_DATA_DIR: dataDir,
  }
  return { postgres, redis, upstream, env }
}

/**
 * `npm run drill:cluster`: several gateways on PostgreSQL and Redis behind a balancer. First the promises that hold for a
 * cluster as for one process (`test/cluster`), each gateway on a host of its own where this machine allows;
 * then the tests of the whole application, with four gateways wherever a test starts one. With `promises` or `suite`
 * behind it only that; files behind `suite` run alone. It takes some twenty minutes, and is not a part of `npm test`.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createPostgres, query } from '../support/postgres.ts'
import { createRedis } from '../support/redis.ts'
import { filesOfDrill, LEFT_TESTS } from './exemptions.ts'
import { HOSTS, HUB, makeHosts } from './namespaces.ts'

const SIZE = 4
/** Redis has so many databases, and each start of a test one of its own. */
const MOST_STARTS = 4096
const LONGEST_FILE = '--timeout=15m'

const [only, ...named] = process.argv.slice(2)
const endings: (() => Promise<void>)[] = []
try {
  const statuses = []
  if (only !== 'suite') statuses.push(await runPromises())
  if (only !== 'promises') statuses.push(await runSuite())
  process.exitCode = Math.max(...statuses)
} finally {
  for (const end of endings.reverse()) await end()
}

/** Runs the tests of clusters, in network namespaces where that is permitted. Gives AVA's status. */
async function runPromises(): Promise<number> {
  const words = [LONGEST_FILE, '--serial', '--concurrency=1', 'test/cluster/**/*.test.ts']
  const env = { TURNPIKE_DRILL: 'on' }
  const mayHaveHosts = spawnSync('unshare', ['--net', '--mount', 'sh', '-ec', makeHosts('true'), 'sh']).status === 0
  console.log(
    mayHaveHosts ? `Hosts: ${HOSTS}` : 'Hosts: addresses of loopback, since network namespaces are not permitted',
  )
  if (!mayHaveHosts) return run('ava', words, env)
  const inside = ['--net', '--mount', 'sh', '-ec', makeHosts('"$@"'), 'sh', 'ava', ...words]
  return run('unshare', inside, { ...env, TURNPIKE_DRILL_HUB: HUB, TURNPIKE_DRILL_HOSTS: HOSTS })
}

/** Runs the tests of the whole application, each gateway of theirs a cluster. Gives AVA's status. */
async function runSuite(): Promise<number> {
  const owner = { teardown: (end: () => Promise<void>) => void endings.push(end) }
  const [postgres, redis] = await Promise.all([createPostgres(owner), createRedis(owner, MOST_STARTS)])
  const postgresUrl = await postgres.createDatabase()
  await query(postgresUrl, 'create sequence drill')
  const left = Object.values(LEFT_TESTS).flat()
  const files = filesOfDrill(named.length > 0 ? named : undefined)
  const words = [LONGEST_FILE, ...left.map((title) => `--match=!${title}`), ...files]
  return run('ava', words, { TURNPIKE_DRILL_CLUSTER: JSON.stringify({ size: SIZE, postgresUrl, redisUrl: redis.url }) })
}

async function run(program: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(program, words, { stdio: 'inherit', env: { ...process.env, ...env } })
  const [status] = await once(child, 'exit')
  return status ?? 1
}

// `node bench/keys.ts [postgresql://…]`: cost of authentication by key on the main thread, in microseconds of CPU.
//
// Each round authenticates requests with keys drawn at random from all there are, by the very function that the routes
// call; what local mode takes for the same is measured beside it. With PostgreSQL, 32 at a time; the server is not counted.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { createAuthenticateKey } from '../src/accounts/keys/authenticate.ts'
import { createKey, createKeyId, prefixOf } from '../src/accounts/keys/key-format.ts'
import { createKeyHash } from '../src/accounts/keys/key-hash.ts'
import type { Log } from '../src/core/ports/log.ts'
import { type Authenticate, createCloudAuthenticate, createLocalAuthenticate } from '../src/http/authentication.ts'
import { openKeyLookup } from '../src/stores/sql/accounts/key-lookup.ts'
import { openSqlStore } from '../src/stores/sql/store.ts'
import { median, percentile } from './statistics.ts'

const SIZES = [100, 10_000, 100_000]
const ROUNDS = 20
const ATONCE = 32
const REQUESTS_A_ROUND = 20_000
const ACCOUNTS = 1000
const LIMITS = JSON.stringify({ costPerDay: 5, requestsPerMinute: 100, models: ['claude-haiku-*'] })

const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error, child: () => log }
const clock = { nowMs: () => Date.now() }
const [databaseUrl] = process.argv.slice(2)
const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
const store = await openSqlStore({ databaseUrl, dataDir, log, clock, patienceMs: 60_000 })
const hashKey = createKeyHash(undefined)
const lookup = openKeyLookup({ databaseUrl, dataDir, store })
const authenticateKey = createAuthenticateKey({ lookup, hashKey, clock, onUse() {} })
const cloud = createCloudAuthenticate(authenticateKey)
const local = createLocalAuthenticate()

const keys: string[] = []

/** Creates keys up to `count`; every tenth has limits. */
async function makeUpTo(count: number): Promise<void> {
  while (keys.length < count) {
    const batch = Array.from({ length: Math.min(2000, count - keys.length) }, () => createKey('svc'))
    await Promise.all(batch.map((key, index) => insert(key, keys.length + index)))
    keys.push(...batch)
  }
}

function insert(key: string, index: number): Promise<unknown> {
  const id = createKeyId()
  const accountId = `account-${index % ACCOUNTS}`
  const audit = { id: `aud_${id}`, accountId, actor: 'bench', action: 'key.created', subject: id }
  const limits = index % 10 === 0 ? LIMITS : null
  const rest = { name: null, pipelineConfig: null, createdBy: null, limits, most: Number.MAX_SAFE_INTEGER, audit }
  return store.run('keys.create', { id, accountId, hash: hashKey(key), prefix: prefixOf(key), ...rest })
}

/** Measures the CPU of this thread for a round, in µs per request. */
async function round(authenticate: Authenticate): Promise<number> {
  const headers = Array.from({ length: REQUESTS_A_ROUND }, () => ({
    authorization: `Bearer ${keys[Math.floor(Math.random() * keys.length)]}`,
  }))
  await turn()
  const before = process.threadCpuUsage()
  for (let i = 0; i < headers.length; i += ATONCE) {
    const found = headers.slice(i, i + ATONCE).map((each) => authenticate(each))
    if (found[0] instanceof Promise) await Promise.all(found)
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / REQUESTS_A_ROUND
}

console.log(databaseUrl === undefined ? 'sqlite' : 'postgres')
for (const size of SIZES) {
  await makeUpTo(size)
  const costs: Record<'local' | 'cloud', number[]> = { local: [], cloud: [] }
  for (let i = 0; i < ROUNDS; i++) {
    costs.local.push(await round(local))
    costs.cloud.push(await round(cloud))
  }
  const figures = Object.entries(costs).map(
    ([mode, values]) => `${mode} median ${median(values).toFixed(2)}, p90 ${percentile(values, 0.9).toFixed(2)}`,
  )
  console.log(`${size} keys: µs a request: ${figures.join('; ')}`)
}
lookup.close()
await store.close()
rmSync(dataDir, { recursive: true })

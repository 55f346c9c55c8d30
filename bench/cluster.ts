// `node bench/cluster.ts`: throughput of two and four gateways on one PostgreSQL and one Redis, compared with one.
//
//   load (this process) ──keys, round robin──► 1, 2 or 4 gateways in cloud mode ──► upstream
//                                                  └──► PostgreSQL, Redis
//
// Everything shares the cores of this machine, so the throughput of four gateways depends as much on the rest as on
// them. Therefore the CPU of each component is measured separately: a gateway's per request, alone and as one of
// several, and the share of the machine that is left for gateways. Rounds of all sizes alternate, and medians are shown.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createKey, startCloudProcess } from '../test/support/accounts.ts'
import type { GatewayProcess } from '../test/support/gateway-process.ts'
import { createTemplate, stamp } from './bodies.ts'
import { cases } from './cases.ts'
import { type CloudServers, owner, withCloudServers } from './cloud-servers.ts'
import { cpuMicroseconds, processTree } from './process-accounting.ts'
import { sendRequest } from './send-request.ts'
import { median } from './statistics.ts'

const SIZES = [1, 2, 4] as const
const ROUNDS = 5
/** Warm-up of each gateway in sequence, so that V8 has compiled the same for one and for four. */
const WARM_MS = 10_000
const ROUND_MS = 6000
const CONNECTIONS = 32
const COMPONENTS = ['gateways', 'postgres', 'redis', 'upstream', 'load'] as const
const PIPELINE = 'exact-cache,cost-guard?per_day=1000000'

type Component = (typeof COMPONENTS)[number]
type Cpu = Record<Component, number>

/** Result of a round: requests per second, and µs of CPU per request. */
interface Round {
  readonly perSecond: number
  readonly cpu: Cpu
}

/** Makes each request unique. */
let counter = 0
await withCloudServers(measureAll)

async function measureAll({ postgres, redis, env }: CloudServers): Promise<void> {
  const shared = {
    ...env,
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    SVC_PIPELINE: PIPELINE,
    LOG_LEVEL: 'warn',
  }
  const gateways: GatewayProcess[] = []
  for (let nth = 0; nth < Math.max(...SIZES); nth++) gateways.push(await startCloudProcess(shared))
  owner.teardown(() => Promise.all(gateways.map((gateway) => gateway.stop())))
  const { key } = await createKey(gateways[0] as GatewayProcess, 'bench') // safe: there are some
  for (const gateway of gateways) await runRound([gateway], key, WARM_MS)
  const rounds = new Map<number, Round[]>(SIZES.map((size) => [size, []]))
  for (let nth = 0; nth < ROUNDS; nth++)
    for (const size of SIZES) rounds.get(size)?.push(await runRound(gateways.slice(0, size), key, ROUND_MS))
  report(SIZES.map((size) => ({ size, ...summaryOf(rounds.get(size) ?? []) })))
}

/** Keeps one request in flight per connection, rotating over the gateways, for the given time. */
async function runRound(gateways: readonly GatewayProcess[], key: string, forMs: number): Promise<Round> {
  const pools = gateways.map(({ url }) => new Pool(url, { connections: CONNECTIONS }))
  const [trafficCase] = cases
  const template = createTemplate(trafficCase as (typeof cases)[number], {
    dialect: 'messages',
    model: 'claude-sonnet-4-5',
  }) // safe: there are some
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let [requests, failures, isOver] = [0, 0, false]
  const lane = async () => {
    const body = Buffer.from(template.bytes)
    while (!isOver) {
      stamp(body, template.counterOffset, ++counter)
      const pool = pools[counter % pools.length] as Pool // safe: within
      const { status } = await sendRequest(pool, { path: '/v1/messages', headers }, body)
      requests++
      if (status !== 200) failures++
    }
  }
  const before = cpuNow(gateways)
  const startedAtMs = performance.now()
  const lanes = Array.from({ length: CONNECTIONS }, lane)
  await sleep(forMs)
  isOver = true
  await Promise.all(lanes)
  const seconds = (performance.now() - startedAtMs) / 1000
  const after = cpuNow(gateways)
  await Promise.all(pools.map((pool) => pool.destroy()))
  if (failures > 0) console.error(`${failures} of ${requests} requests were not answered with 200.`)
  const cpu = Object.fromEntries(COMPONENTS.map((each) => [each, (after[each] - before[each]) / requests])) as Cpu // safe: all are there
  return { perSecond: requests / seconds, cpu }
}

/** Reads the CPU so far in µs. Connections of PostgreSQL are processes; those that end while idle are not counted. */
function cpuNow(gateways: readonly GatewayProcess[]): Cpu {
  const own = new Set(gateways.flatMap(({ pid }) => processTree(pid)))
  const { user, system } = process.cpuUsage()
  const cpu: Cpu = { gateways: 0, postgres: 0, redis: 0, upstream: 0, load: user + system }
  for (const pid of processTree(process.pid).slice(1)) {
    const component = own.has(pid) ? 'gateways' : componentOf(pid)
    if (component !== undefined) cpu[component] += cpuOf(pid)
  }
  return cpu
}

/** Returns the component of a process started by this one. */
function componentOf(pid: number): Component | undefined {
  const words = commandOf(pid)
  if (words.includes('postgres')) return 'postgres'
  if (words.includes('redis-server')) return 'redis'
  return words.includes('upstream.ts') ? 'upstream' : undefined
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return '' // it has ended
  }
}

function cpuOf(pid: number): number {
  try {
    return cpuMicroseconds([pid])
  } catch {
    return 0 // it has ended
  }
}

function summaryOf(rounds: readonly Round[]): Round {
  const cpu = Object.fromEntries(
    COMPONENTS.map((each) => [each, median(rounds.map((round) => round.cpu[each]))]),
  ) as Cpu // safe: all are there
  return { perSecond: median(rounds.map(({ perSecond }) => perSecond)), cpu }
}

function report(sizes: readonly (Round & { size: number })[]): void {
  const cores = availableParallelism()
  console.log(
    `| gateways | requests/s | ${COMPONENTS.map((each) => `${each}, µs`).join(' | ')} | all, µs | cores used by gateways |`,
  )
  console.log(`| --- | --- | ${COMPONENTS.map(() => '---').join(' | ')} | --- | --- |`)
  for (const { size, perSecond, cpu } of sizes) {
    const all = Object.values(cpu).reduce((sum, each) => sum + each, 0)
    const figures = COMPONENTS.map((each) => cpu[each].toFixed(0))
    const used = ((perSecond * cpu.gateways) / 1e6).toFixed(2)
    console.log(`| ${size} | ${perSecond.toFixed(0)} | ${figures.join(' | ')} | ${all.toFixed(0)} | ${used} |`)
  }
  const [one, , four] = sizes
  if (one === undefined || four === undefined) return
  const all = Object.values(four.cpu).reduce((sum, each) => sum + each, 0)
  console.log(
    `\nMeasured: four serve ${(four.perSecond / one.perSecond).toFixed(2)} × what one serves, on ${cores} cores that all share.`,
  )
  console.log(
    `These cores allow ${((cores * 1e6) / all).toFixed(0)} requests/s at most: ${((100 * four.cpu.gateways) / all).toFixed(0)} % of the CPU is the gateways’.`,
  )
  // One process has one thread for requests: one core, plus a little.
  const coresOfOne = Math.max(1, (one.perSecond * one.cpu.gateways) / 1e6)
  const fair = cores / four.cpu.gateways / (coresOfOne / one.cpu.gateways)
  console.log(`With ${cores} cores to themselves, four would serve ${fair.toFixed(2)} × what one serves.`)
}

// `npm run bench:sizing [-- processes]`: compares the predictions of the cost model with a measured run of four
// processes.  On this one machine the gateway, PostgreSQL, Redis, the provider's stand-in and the load share the cores.
// So the prediction is of CPU, component by component, at a moderate rate; of the rate at which the cores are full; and
// of the waits.
import { availableParallelism } from 'node:os'
import { type Case, cases } from '../cases.ts'
import { percentile } from '../statistics.ts'
import { readCosts } from './cost-model.ts'
import { demandOf } from './demand.ts'
import { simulateWaits } from './queue.ts'
import { openRig, type Rig } from './rig.ts'
import { AGENTS } from './traffic.ts'

const WORKERS = Number(process.argv[2] ?? 4)
const CALM_SHARE = 0.4
const CALM_REQUESTS = 3000
const BUSY_REQUESTS = 6000

const costs = readCosts()
const cores = availableParallelism()

function print(what: string, predicted: number, measured: number): void {
  const error = `${(((measured - predicted) / predicted) * 100).toFixed(0)} %`
  console.log(
    `  ${what.padEnd(46)} predicted ${predicted.toPrecision(3).padStart(8)}   measured ${measured.toPrecision(3).padStart(8)}   ${error}`,
  )
}

async function check(rig: Rig, kind: Case): Promise<void> {
  const demand = demandOf({ ...AGENTS, requestKilobytes: kind.bodyBytes / 1024, streams: 0 }, costs)
  const drive = { case: kind, unique: true }
  await rig.drive({ ...drive, requests: BUSY_REQUESTS / 4 })
  const busy = await rig.drive({ ...drive, requests: BUSY_REQUESTS })
  const surroundings = busy.took.surroundings / BUSY_REQUESTS
  const ours = demand.gateway + demand.postgres.microseconds + demand.redis.microseconds
  const fullRate = (cores * 1e6) / (ours + surroundings)
  console.log(`${kind.label}, default pipeline, ${WORKERS} processes, ${cores} cores`)
  print('requests/s with all cores full', fullRate, BUSY_REQUESTS / busy.seconds)

  const rate = Math.floor(fullRate * CALM_SHARE)
  const calm = await rig.drive({ ...drive, requests: CALM_REQUESTS, requestsPerSecond: rate })
  const each = (amount: number) => amount / CALM_REQUESTS
  print(`gateway, µs of CPU a request at ${rate}/s`, demand.gateway, each(calm.took.gateway))
  print('PostgreSQL, µs of CPU a request', demand.postgres.microseconds, each(calm.took.postgres))
  print('PostgreSQL, transactions a request', demand.postgres.transactions, each(calm.took.transactions))
  print('Redis, commands a request', demand.redis.commands, each(calm.took.commands))
  const perCore = rate / cores
  const others = demand.request.other + demand.postgres.microseconds + demand.redis.microseconds + surroundings
  const slower = 1 / (1 - (perCore * others) / 1e6)
  const waits = simulateWaits({
    requestsPerSecond: perCore,
    requestMicroseconds: demand.request.loop * slower,
    eventMicroseconds: 0,
    eventsPerRequest: 0,
  })
  print('added until answered, p50 in ms', waits.p50Ms, percentile(calm.result.totalMs ?? [], 0.5))
  print('added until answered, p99 in ms', waits.p99Ms, percentile(calm.result.totalMs ?? [], 0.99))
}

await using rig = await openRig({ workers: WORKERS })
for (const kind of cases.filter(({ name }) => name === 'json-1k' || name === 'json-30k')) await check(rig, kind)

import type { Costs } from './cost-model.ts'
import { type Demand, demandOf } from './demand.ts'
import { simulateWaits, type Waits } from './queue.ts'
import { MACHINE, type Traffic } from './traffic.ts'

/** Largest share of a machine's CPU that a plan uses; the rest is a reserve. */
const BUSIEST = 0.6
/** Longest p99 of the wait for the gateway, in milliseconds. */
const LONGEST_P99_MS = 25
const SEARCH_STEPS = 12
const KILOBYTES_PER_GIGABYTE = 1024 ** 2

/** Machines and stores for a peak rate. */
export interface Fleet {
  machines: number
  /** Limit that determines the number of machines. */
  boundBy: 'CPU' | 'memory' | 'wait'
  waits: Waits
  postgres: { transactionsPerSecond: number; cores: number }
  redis: { commandsPerSecond: number; cores: number }
  /** Each body passes twice: from the client and to the provider, and back. */
  gigabitsPerSecond: number
  receiptGigabytesPerHour: number
}

/**
 * Returns the smallest fleet that keeps `BUSIEST`, the memory of `MACHINE` and `LONGEST_P99_MS` at a peak of
 * `requestsPerSecond`.
 */
export function fleetFor(requestsPerSecond: number, traffic: Traffic, costs: Costs): Fleet {
  const demand = demandOf(traffic, costs)
  const limits = {
    CPU: (BUSIEST * 1e6) / demand.gateway,
    memory: rateOfMemory(traffic, costs),
    wait: rateOfWait(demand),
  }
  const [boundBy, perProcess] = (Object.entries(limits) as [Fleet['boundBy'], number][]).reduce((least, each) =>
    each[1] < least[1] ? each : least,
  )
  const machines = Math.ceil(requestsPerSecond / (perProcess * MACHINE.cores))
  return {
    machines,
    boundBy,
    waits: waitsOf(requestsPerSecond / (machines * MACHINE.cores), demand),
    postgres: {
      transactionsPerSecond: requestsPerSecond * demand.postgres.transactions,
      cores: (requestsPerSecond * demand.postgres.microseconds) / 1e6,
    },
    redis: {
      commandsPerSecond: requestsPerSecond * demand.redis.commands,
      cores: (requestsPerSecond * demand.redis.microseconds) / 1e6,
    },
    gigabitsPerSecond:
      (requestsPerSecond * (traffic.requestKilobytes + traffic.replyKilobytes) * 8) / KILOBYTES_PER_GIGABYTE,
    receiptGigabytesPerHour: (requestsPerSecond * 3600 * costs.stored.receiptBytes) / 1024 ** 3,
  }
}

/** Returns the requests per second whose open replies, with their bodies, fit into a process's share of the memory. */
function rateOfMemory(traffic: Traffic, { memory }: Costs): number {
  const { replySeconds, requestKilobytes, replyKilobytes } = traffic
  const free = (MACHINE.memoryGigabytes / MACHINE.cores) * KILOBYTES_PER_GIGABYTE - memory.processMegabytes * 1024
  return free / (replySeconds * (memory.openStreamKilobytes + requestKilobytes + replyKilobytes))
}

/** Returns the requests per second up to which the wait is short enough, by bisection. */
function rateOfWait(demand: Demand): number {
  let [low, high] = [0, 1e6 / demand.gateway]
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (low + high) / 2
    if (waitsOf(middle, demand).p99Ms <= LONGEST_P99_MS) low = middle
    else high = middle
  }
  return low
}

/** Returns the waits. Other threads use part of a loop's core, so the loop takes longer for the same work. */
function waitsOf(requestsPerSecond: number, demand: Demand): Waits {
  const others = demand.request.other + demand.eventsPerRequest * demand.event.other
  const slower = 1 / Math.max(0.05, 1 - (requestsPerSecond * others) / 1e6)
  return simulateWaits({
    requestsPerSecond,
    requestMicroseconds: demand.request.loop * slower,
    eventMicroseconds: demand.event.loop * slower,
    eventsPerRequest: demand.eventsPerRequest,
  })
}

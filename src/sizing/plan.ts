import type { Costs } from './costs.ts'
import { type Demand, demandOf } from './demand.ts'
import { NEVER, simulateWaits, type Waits } from './queue.ts'
import type { Traffic } from './traffic.ts'

/** What some traffic needs. Rates and shares are those of a burst unless they say otherwise. */
export interface Plan {
  readonly machines: number
  readonly spareMachines: number
  readonly processesPerMachine: number
  /** Share of the CPU of the machines that serve, spare ones not counted. */
  readonly busyInBurst: number
  readonly busyOnAverage: number
  readonly waits: Waits
  readonly memoryPerMachineGigabytes: number
  /** Which of the three decided how many machines there are. */
  readonly decidedBy: 'cpu' | 'memory' | 'latency'
  readonly postgres: { transactionsPerSecond: number; cores: number; storedGigabytes: number }
  readonly redis: { commandsPerSecond: number; cores: number; storedGigabytes: number }
  readonly network: { inMegabits: number; outMegabits: number }
}

const MOST_MACHINES = 10_000
const RATE_OF_AN_IDLE_PROCESS = 0.001
const GIGABYTE_IN_KILOBYTES = 1024 ** 2

/**
 * Finds the fewest machines on which CPU, memory and waits stay within the bounds of `traffic`. Throws a RangeError beyond
 * 10,000, and where no number of them would do.
 */
export function planMachines(traffic: Traffic, costs: Costs): Plan {
  const demand = demandOf(traffic, costs)
  const { p99Ms } = waitsOf(RATE_OF_AN_IDLE_PROCESS, { traffic, costs, demand })
  if (p99Ms > traffic.added_p99_ms)
    throw new RangeError(
      `Expected \`added_p99_ms\` to be at least ${Math.ceil(p99Ms)}: so long 1 of 100 such requests takes on a machine with nothing else to do.`,
    )
  for (let machines = 1; machines <= MOST_MACHINES; machines = next(machines)) {
    const found = tryMachines(machines, { traffic, costs, demand })
    if (found.fault === undefined) return shrink(found.plan, { traffic, costs, demand })
  }
  throw new RangeError(`More than ${MOST_MACHINES} machines would be needed; look at \`requests_per_second\`.`)
}

interface Question {
  readonly traffic: Traffic
  readonly costs: Costs
  readonly demand: Demand
}

/** In steps of a tenth, so that a large fleet is found as fast as a small one. */
function next(machines: number): number {
  return machines + Math.max(1, Math.floor(machines / 10))
}

/** Goes back through the last step, one machine at a time, and names what the next smaller fleet lacks. */
function shrink(plan: Plan, question: Question): Plan {
  let smallest = plan
  for (let machines = plan.machines - 1; machines >= 1; machines--) {
    const { fault, plan: smaller } = tryMachines(machines, question)
    if (fault !== undefined) return { ...smallest, decidedBy: fault }
    smallest = smaller
  }
  return smallest
}

function tryMachines(machines: number, question: Question): { plan: Plan; fault?: Plan['decidedBy'] } {
  const { traffic, demand } = question
  const { cores, memory_gigabytes } = traffic.machine
  const burstRate = traffic.requests_per_second * traffic.burst
  const busyInBurst = (burstRate * demand.gateway) / (machines * cores * 1e6)
  const memory = memoryOf(machines * cores, question)
  const isWithin = busyInBurst <= traffic.busiest && memory * cores <= memory_gigabytes
  const waits = isWithin ? waitsOf(burstRate / (machines * cores), question) : NEVER
  const plan: Plan = {
    machines,
    spareMachines: traffic.spare_machines,
    processesPerMachine: cores,
    busyInBurst,
    busyOnAverage: busyInBurst / traffic.burst,
    waits,
    memoryPerMachineGigabytes: memory * cores,
    decidedBy: 'cpu',
    ...storesOf(burstRate, question),
    network: networkOf(burstRate, traffic),
  }
  if (busyInBurst > traffic.busiest) return { plan, fault: 'cpu' }
  if (!isWithin) return { plan, fault: 'memory' }
  return waits.p99Ms > traffic.added_p99_ms ? { plan, fault: 'latency' } : { plan }
}

/** Gigabytes of one process: what it takes at rest, its open streams, and the bodies it holds on their way. */
function memoryOf(processes: number, { traffic, costs }: Question): number {
  const { requests_per_second, burst, stream_seconds, request_kilobytes, reply_kilobytes } = traffic
  const open = (requests_per_second * burst * stream_seconds) / processes
  const kilobytesEach = costs.memory.openStreamKilobytes + request_kilobytes + reply_kilobytes
  return costs.memory.processMegabytes / 1024 + (open * kilobytesEach) / GIGABYTE_IN_KILOBYTES
}

/** Other threads take their part of the core on which a loop runs, so the loop needs longer for the same. */
function waitsOf(requestsPerSecond: number, { demand }: Question): Waits {
  const others = demand.request.other + demand.eventsPerRequest * demand.event.other
  const slower = 1 / Math.max(0.05, 1 - (requestsPerSecond * others) / 1e6)
  return simulateWaits({
    requestsPerSecond,
    requestMicroseconds: demand.request.loop * slower,
    eventMicroseconds: demand.event.loop * slower,
    eventsPerRequest: demand.eventsPerRequest,
  })
}

function storesOf(burstRate: number, { traffic, costs, demand }: Question): Pick<Plan, 'postgres' | 'redis'> {
  const { receiptBytes, telemetryBytes, replyOverheadBytes } = costs.stored
  const requestsPerDay = traffic.requests_per_second * traffic.busy_hours * 3600
  const rowBytes = requestsPerDay * (receiptBytes * traffic.receipts_days + telemetryBytes * traffic.telemetry_days)
  const replies = traffic.pipeline === 'none' ? 0 : requestsPerDay * (1 - traffic.hits) * hoursShare(traffic)
  const replyBytes = replies * (traffic.reply_kilobytes * 1024 + replyOverheadBytes)
  return {
    postgres: {
      transactionsPerSecond: burstRate * demand.postgres.transactions,
      cores: (burstRate * demand.postgres.microseconds) / 1e6,
      storedGigabytes: rowBytes / 1024 ** 3,
    },
    redis: {
      commandsPerSecond: burstRate * demand.redis.commands,
      cores: (burstRate * demand.redis.microseconds) / 1e6,
      storedGigabytes: replyBytes / 1024 ** 3,
    },
  }
}

/** Which part of a day's replies is stored at once. */
function hoursShare({ cache_hours, busy_hours }: Traffic): number {
  return cache_hours >= 24 ? cache_hours / 24 : Math.min(1, cache_hours / busy_hours)
}

/** Each body passes twice: from the client and to the provider, and back. */
function networkOf(burstRate: number, { request_kilobytes, reply_kilobytes, hits }: Traffic): Plan['network'] {
  const megabits = (kilobytes: number) => (burstRate * kilobytes * 8) / 1024
  return {
    inMegabits: megabits(request_kilobytes + (1 - hits) * reply_kilobytes),
    outMegabits: megabits(reply_kilobytes + (1 - hits) * request_kilobytes),
  }
}

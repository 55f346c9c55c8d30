import { type Costs, type Cpu, cpuAt } from './cost-model.ts'
import type { Traffic } from './traffic.ts'

/** Cost of an average request of some traffic. Times are microseconds of CPU. */
export interface Demand {
  /** Gateway's cost without the events of its stream. */
  request: Cpu
  /** Gateway's cost for each event of a stream. */
  event: Cpu
  eventsPerRequest: number
  /** Request and events together. */
  gateway: number
  postgres: { microseconds: number; transactions: number }
  redis: { microseconds: number; commands: number }
}

/** Mixes the measured costs in the proportions of `traffic`. */
export function demandOf(traffic: Traffic, costs: Costs): Demand {
  const { hits, requestKilobytes, streams, streamEvents } = traffic
  const missed = costs.pipelines[traffic.pipeline]
  const { hit } = costs.pipelines
  const mix = (ofMiss: number, ofHit: number) => (1 - hits) * ofMiss + hits * ofHit
  const missCpu = cpuAt(missed.gateway, requestKilobytes)
  const hitCpu = cpuAt(hit.gateway, requestKilobytes)
  const request = { loop: mix(missCpu.loop, hitCpu.loop), other: mix(missCpu.other, hitCpu.other) }
  // A hit is replayed at once, in a few writes.
  const eventsPerRequest = (1 - hits) * streams * streamEvents
  const { streamEvent: event } = costs
  return {
    request,
    event,
    eventsPerRequest,
    gateway: request.loop + request.other + eventsPerRequest * (event.loop + event.other),
    postgres: {
      microseconds: mix(missed.postgres.microseconds, hit.postgres.microseconds),
      transactions: mix(missed.postgres.transactions, hit.postgres.transactions),
    },
    redis: {
      microseconds: mix(missed.redis.microseconds, hit.redis.microseconds),
      commands: mix(missed.redis.commands, hit.redis.commands),
    },
  }
}

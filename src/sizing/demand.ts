import { type Costs, type Cpu, cpuAt } from './costs.ts'
import type { Traffic } from './traffic.ts'

/** What an average request of some traffic takes. Times are microseconds of CPU. */
export interface Demand {
  /** Of the gateway, events of its stream not included. */
  readonly request: Cpu
  /** Of the gateway, for each event of a stream. */
  readonly event: Cpu
  readonly eventsPerRequest: number
  /** Request and events together. */
  readonly gateway: number
  readonly postgres: { readonly microseconds: number; readonly transactions: number }
  readonly redis: { readonly microseconds: number; readonly commands: number }
}

/** Mixes what was measured in the proportions of `traffic`. */
export function demandOf(traffic: Traffic, costs: Costs): Demand {
  const { hits, request_kilobytes, streams, stream_events } = traffic
  const missed = costs.pipelines[traffic.pipeline]
  const { hit } = costs.pipelines
  const mix = (ofMiss: number, ofHit: number) => (1 - hits) * ofMiss + hits * ofHit
  const [missCpu, hitCpu] = [missed, hit].map(({ gateway }) => cpuAt(gateway, request_kilobytes)) as [Cpu, Cpu] // safe: two in, two out
  const request = { loop: mix(missCpu.loop, hitCpu.loop), other: mix(missCpu.other, hitCpu.other) }
  // A hit is replayed at once, a few writes in all.
  const eventsPerRequest = (1 - hits) * streams * stream_events
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

import { readFileSync } from 'node:fs'

export const COSTS_FILE = new URL('./costs.json', import.meta.url)

/** CPU of one request in microseconds: of the event loop, which is one thread, and of all other threads together. */
export interface Cpu {
  loop: number
  other: number
}

export interface PipelineCost {
  /** By size of the request's body, smallest first. */
  gateway: (Cpu & { kilobytes: number })[]
  postgres: { microseconds: number; transactions: number }
  redis: { microseconds: number; commands: number }
}

/**
 * Cost of a request as measured by `npm run bench:costs`: `costs.json`. Times are microseconds of CPU, user and system;
 * for PostgreSQL and Redis of all their processes together.
 */
export interface Costs {
  measured: { at: string; machine: string; command: string }
  pipelines: { none: PipelineCost; default: PipelineCost; capped: PipelineCost; hit: PipelineCost }
  /** Event of a stream in a packet of its own. */
  streamEvent: Cpu
  memory: { processMegabytes: number; openStreamKilobytes: number }
  /** Bytes on disk, including indexes, without the write-ahead log. */
  stored: { receiptBytes: number; telemetryBytes: number; replyOverheadBytes: number }
}

/** Reads the last measurement. */
export function readCosts(): Costs {
  return JSON.parse(readFileSync(COSTS_FILE, 'utf8'))
}

/**
 * Returns the CPU of a request of `kilobytes`, interpolated between the measured sizes and extrapolated from the last
 * two.
 */
export function cpuAt(gateway: PipelineCost['gateway'], kilobytes: number): Cpu {
  const above = gateway.findIndex((each) => each.kilobytes >= kilobytes)
  const index = above === -1 ? gateway.length - 1 : Math.max(above, 1)
  const [from, to] = [gateway[index - 1]!, gateway[index]!]
  if (kilobytes <= from.kilobytes) return from
  const share = (kilobytes - from.kilobytes) / (to.kilobytes - from.kilobytes)
  const between = (name: keyof Cpu) => from[name] + share * (to[name] - from[name])
  return { loop: between('loop'), other: between('other') }
}

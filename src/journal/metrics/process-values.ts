import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Instruments } from './instruments.ts'

/** Resolution of the delay histogram; a finer one would wake an idle process more often. */
const RESOLUTION_MS = 50
const QUANTILES = [0.5, 0.99, 1]
const NS_PER_SECOND = 1e9
const US_PER_SECOND = 1e6

/** Samples the process itself. Values of the event loop cover the time since the last sample. */
export class ProcessValues {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #utilization: EventLoopUtilization = performance.eventLoopUtilization()

  constructor() {
    this.#delay.enable()
  }

  /** Sets the metrics of the process. */
  sample(instruments: Instruments): void {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    instruments.process_start_time_seconds.set(performance.timeOrigin / 1000)
    instruments.process_cpu_seconds_total.set((user + system) / US_PER_SECOND)
    instruments.process_resident_memory_bytes.set(rss)
    instruments.nodejs_heap_size_used_bytes.set(heapUsed)
    instruments.nodejs_external_memory_bytes.set(external)
    instruments.nodejs_eventloop_utilization.set(this.#busyShare())
    for (const share of QUANTILES) instruments.nodejs_eventloop_delay_seconds.set(this.#delayAt(share), String(share))
    this.#delay.reset()
  }

  #busyShare(): number {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization)
    this.#utilization = now
    return utilization
  }

  /** Returns the delay in seconds, beyond the requested pause. */
  #delayAt(share: number): number {
    return Math.max(0, this.#delay.percentile(share * 100) / NS_PER_SECOND - RESOLUTION_MS / 1000)
  }
}

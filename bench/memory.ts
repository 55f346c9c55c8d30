import { forms } from './bodies.ts'
import type { CampaignOptions } from './campaign.ts'
import type { Gateway } from './gateway-process.ts'
import { measureIdleStream } from './idle-streams.ts'
import { peakResidentBytes, residentBytes } from './process-accounting.ts'
import { median } from './statistics.ts'
import type { Memory } from './summary.ts'
import type { Target } from './targets.ts'

interface MemoryOptions extends CampaignOptions {
  start(target: Target): Promise<Gateway[]>
}

/** Targets whose idle streams are measured. */
const STREAM_TARGETS = ['bare', 'none']
const GROWTH_REQUESTS = 5000

/** Reads the memory of every gateway after its rounds, stops them, then measures idle streams on fresh processes. */
export async function collectMemory(options: MemoryOptions): Promise<Map<string, Memory>> {
  const memory = new Map<string, Memory>()
  const running = options.gateways.filter(({ target }) => target.args)
  for (const { target, pids, startRssBytes, stop } of running) {
    try {
      const tree = pids()
      const bytes = { endBytes: residentBytes(tree), peakBytes: peakResidentBytes(tree) }
      memory.set(target.name, { startBytes: startRssBytes, ...bytes })
    } catch {
      options.note(`${target.label}: it ended by itself before the end of the run.`)
    }
    await stop()
  }
  for (const { target } of running.filter((gateway) => STREAM_TARGETS.includes(gateway.target.name))) {
    const idleStreamBytes = await measureOnFreshProcesses(target, options)
    const known = memory.get(target.name)
    if (known && idleStreamBytes !== undefined) memory.set(target.name, { ...known, idleStreamBytes })
  }
  return memory
}

/** Returns the median over some fresh processes: a single one may collect garbage between the two readings. */
async function measureOnFreshProcesses(target: Target, options: MemoryOptions): Promise<number | undefined> {
  const { effort, load, note, start } = options
  const sse = options.cases.find(({ stream }) => stream)
  if (!sse) return undefined
  console.log(`idle streams of ${target.label}`)
  const found: number[] = []
  for (let i = 0; i < Math.min(effort.rounds, 3); i++) {
    for (const gateway of await start(target)) {
      const { origin, headers } = gateway
      const { wording, unique } = target
      const path = forms[wording.dialect].path
      const traffic = { origin, path, headers, wording, case: sse, unique, leastReplyBytes: 1 }
      // Grows the heap to its working size first, so that this growth is not attributed to the streams.
      await load.run({ kind: 'count', traffic, pids: gateway.pids(), requestCount: GROWTH_REQUESTS })
      try {
        found.push(await measureIdleStream(gateway, effort.idleStreams))
      } catch (error) {
        note(`${target.label}: ${effort.idleStreams} idle streams did not open. ${String(error)}`)
      }
      await gateway.stop()
    }
  }
  return found.length === 0 ? undefined : median(found)
}

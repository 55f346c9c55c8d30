import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/*
 * DESIGN. Loaded into a gateway before anything else (`--import`). Every second it writes what only the process knows into
 * a file: what is left on the heap after its last full collection, handles by their kind, how late timers come.
 */

/** Facts that a process reports about itself. */
export interface Facts {
  /** Bytes on the heap right after the last full collection, which is made now and then; 0 before the first. */
  readonly heapBytes: number
  /** Bytes beside the heap at that moment, bodies in buffers among them. */
  readonly externalBytes: number
  /** Handles that keep the event loop busy, timers among them. */
  readonly handles: number
  /** p99 of how late timers came in the last second, in milliseconds. */
  readonly lateMs: number
}

/** Reads the last facts of a process; `undefined` when there are none yet. */
export function readFacts(file: string): Facts | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const SECOND_MS = 1000
const RESOLUTION_MS = 10
const NS_PER_MS = 1e6

function tellFacts(file: string, collectMs: number): void {
  let [heapBytes, externalBytes] = [0, 0]
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const look = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    heapBytes = heapUsed
    externalBytes = external
  }
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const tell = () => {
    const handles = process.getActiveResourcesInfo().length
    const lateMs = Math.max(0, delay.percentile(99) / NS_PER_MS - RESOLUTION_MS)
    delay.reset()
    writeFileSync(`${file}.new`, JSON.stringify({ heapBytes, externalBytes, handles, lateMs } satisfies Facts))
    renameSync(`${file}.new`, file) // whole, for a concurrent reader
  }
  setInterval(look, collectMs).unref()
  setInterval(tell, SECOND_MS).unref()
}

const file = process.env.SOAK_FACTS
if (isMainThread && file !== undefined) tellFacts(file, Number(process.env.SOAK_COLLECT_MS))

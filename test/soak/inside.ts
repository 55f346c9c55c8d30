import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import '../support/run-sources.ts'

/*
 * DESIGN. Loaded into a gateway before anything else (`--import`), in each of its threads. It does two things:
 *
 *   a short day   what the gateway does now and then, and how long it keeps what has ended, becomes a part of the run, by
 *                 changing those constants where they are declared. Leases, time-outs and calendars stay as they are: a
 *                 clock that runs faster would end the leases of requests that run, and PostgreSQL has its own. Options
 *                 for these constants would be a promise to users. A changed line that is missing throws.
 *   facts         every second it writes what only the process knows into a file: what is left on the heap after its last
 *                 full collection, handles by their kind, how late timers come.
 */

const SRC = path.resolve(import.meta.dirname, '../../src')

/** By file: the exact line of the constant, and the environment variable that has the milliseconds in its place. */
const SHORTENED: Readonly<Record<string, readonly [line: string, variable: string]>> = {
  'stores/sql/retention/retention.ts': ['const EVERY_MS = 10 * 60 * 1000', 'SOAK_SWEEP_MS'],
  'stores/sql/spend/holds.ts': ['const SETTLED_KEPT_MS = 24 * 60 * 60 * 1000', 'SOAK_KEEP_MS'],
  'stores/sql/credits/end.ts': ['const ENDED_KEPT_MS = 24 * 60 * 60 * 1000', 'SOAK_KEEP_MS'],
  'config/kept.ts': [`keep: duration({ min: '1h'`, 'SOAK_KEEP_MS'],
}

const shortened = new Map(
  Object.entries(SHORTENED).map(([file, change]) => [pathToFileURL(path.join(SRC, file)).href, change]),
)

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const change = shortened.get(url)
    if (change === undefined) return loaded
    const [line, variable] = change
    const source = String(loaded.source)
    if (!source.includes(line)) throw new Error(`Expected \`${line}\` in ${url}: test/soak/inside.ts shortens it`)
    return { ...loaded, source: source.replace(line, shorter(line, Number(process.env[variable]))) }
  },
})

/** Returns the line with its duration replaced: a constant's value, or the bound of an option. */
function shorter(line: string, ms: number): string {
  return line.startsWith('const ') ? line.replace(/=.*/, `= ${ms}`) : line.replace(`'1h'`, `'${ms}ms'`)
}

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

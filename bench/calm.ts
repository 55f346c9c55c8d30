import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMicrosecondsWithEnded, processTree } from './process-accounting.ts'

const MICROSECONDS_PER_TICK = 10_000
/** Cores that other programs may use without notice: what the system itself does in the background. */
export const CALM_CORES = 0.15
const LONGEST_WAIT_MS = 60_000
const LOOK_MS = 2_000

/** Starts to watch other programs. `cores` returns how many cores they have used on average since the start. */
export function startOthersClock(): { cores(): number } {
  const start = read()
  return {
    cores() {
      const now = read()
      return Math.max(0, (now.others - start.others) / ((now.atMs - start.atMs) * 1000))
    },
  }
}

/** Waits up to a minute until other programs rest. Returns the cores that they used at the last look. */
export async function waitForCalm(signal: AbortSignal): Promise<number> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  for (;;) {
    const others = startOthersClock()
    await sleep(LOOK_MS, undefined, { signal })
    const cores = others.cores()
    if (cores <= CALM_CORES || performance.now() > deadlineMs) return cores
    console.log(`other programs use ${cores.toFixed(2)} cores: waiting`)
  }
}

/** Reads the CPU microseconds that programs other than this process and its descendants have used. */
function read(): { others: number; atMs: number } {
  const line = /^cpu .*$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[0] ?? ''
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).map(Number)
  const busy = (user + nice + system + irq + softirq + steal) * MICROSECONDS_PER_TICK
  const own = processTree(process.pid).reduce((sum, pid) => sum + cpuOf(pid), 0)
  return { others: busy - own, atMs: performance.now() }
}

/** Counts ended children with their parent: PostgreSQL's, which end with their connections, would look like others. */
function cpuOf(pid: number): number {
  try {
    return cpuMicrosecondsWithEnded([pid])
  } catch {
    return 0 // It has ended; its parent’s account has it.
  }
}

import { readdirSync, readFileSync } from 'node:fs'

/** Unit of utime and stime in /proc/<pid>/stat: USER_HZ, 100 on every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000

/** Returns `pid` and all its living descendants: a launcher that re-executes itself counts together with its child. */
export function processTree(pid: number): number[] {
  const children = Map.groupBy(livingProcesses(), ({ parentPid }) => parentPid)
  const tree = [pid]
  for (const member of tree) tree.push(...(children.get(member) ?? []).map((child) => child.pid))
  return tree
}

/** Returns CPU microseconds, user and system, of all threads of `pids` since each began. Throws when one has ended. */
export function cpuMicroseconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuTicks(pid), 0) * MICROSECONDS_PER_TICK
}

/** Returns CPU microseconds of the first threads of `pids`, which are the event loops of Node’s processes. */
export function loopMicroseconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuTicks(`${pid}/task/${pid}`), 0) * MICROSECONDS_PER_TICK
}

/**
 * Returns CPU microseconds of `pids` and of their ended children: PostgreSQL’s processes end with their connections.
 */
export function cpuMicrosecondsWithEnded(pids: readonly number[]): number {
  const ended = pids.map((pid) => statFields(pid)).map((fields) => Number(fields[13]) + Number(fields[14]))
  return cpuMicroseconds(pids) + ended.reduce((sum, ticks) => sum + ticks, 0) * MICROSECONDS_PER_TICK
}

/** Returns those of `pids` whose program has this name, such as `postgres`. */
export function pidsOf(program: string, pids: readonly number[]): number[] {
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === program
    } catch {
      return false // It ended by itself.
    }
  })
}

/** Returns the resident memory of `pids` together, in bytes. */
export function residentBytes(pids: readonly number[]): number {
  return sumOfStatus(pids, /^VmRSS:\s+(\d+) kB$/m)
}

/** Returns the peak resident memory of each of `pids`, summed, in bytes. */
export function peakResidentBytes(pids: readonly number[]): number {
  return sumOfStatus(pids, /^VmHWM:\s+(\d+) kB$/m)
}

function sumOfStatus(pids: readonly number[], line: RegExp): number {
  const kilobytes = pids.map((pid) => Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))
  return kilobytes.reduce((sum, value) => sum + value, 0) * 1024
}

function cpuTicks(place: number | string): number {
  const fields = statFields(place)
  return Number(fields[11]) + Number(fields[12])
}

function livingProcesses(): { pid: number; parentPid: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return { pid: Number(name), parentPid: Number(statFields(Number(name))[1]) }
      } catch {
        return [] // It ended between the listing and the reading.
      }
    })
}

/**
 * Returns the fields of /proc/<pid>/stat from the third (state) on: the second, the name, may contain spaces and
 * brackets.
 */
function statFields(place: number | string): string[] {
  const text = readFileSync(`/proc/${place}/stat`, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

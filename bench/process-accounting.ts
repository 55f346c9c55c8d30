import { readdirSync, readFileSync } from 'node:fs'

/** The unit of utime and stime in /proc/<pid>/stat: USER_HZ, 100 on every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000

/** `pid` and all its living descendants: a launcher that re-executes itself counts together with its child. */
export function processTree(pid: number): number[] {
  const children = Map.groupBy(livingProcesses(), ({ parentPid }) => parentPid)
  const tree = [pid]
  for (const member of tree) tree.push(...(children.get(member) ?? []).map((child) => child.pid))
  return tree
}

/** CPU microseconds, user and system, of all threads of `pids` since each began. Throws when one has ended. */
export function cpuMicroseconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuTicks(pid), 0) * MICROSECONDS_PER_TICK
}

/** Resident memory of `pids` together, in bytes. */
export function residentBytes(pids: readonly number[]): number {
  return sumOfStatus(pids, /^VmRSS:\s+(\d+) kB$/m)
}

/** The largest resident memory each of `pids` ever had, summed, in bytes. */
export function peakResidentBytes(pids: readonly number[]): number {
  return sumOfStatus(pids, /^VmHWM:\s+(\d+) kB$/m)
}

function sumOfStatus(pids: readonly number[], line: RegExp): number {
  const kilobytes = pids.map((pid) => Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))
  return kilobytes.reduce((sum, value) => sum + value, 0) * 1024
}

function cpuTicks(pid: number): number {
  const fields = statFields(pid)
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

/** The fields of /proc/<pid>/stat from the third (state) on: the second, the name, may hold spaces and brackets. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

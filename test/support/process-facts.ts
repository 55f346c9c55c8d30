import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { drill } from './clustered.ts'

/** True if this system exposes facts of other processes, and a gateway is one; the functions below need it. */
export const hasProcessFacts = existsSync('/proc/self/fd') && drill === undefined

/** Counts the files and sockets that a process has open. */
export function countOpenFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Returns the resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, /^VmRSS:\s+(\d+) kB$/m)
}

/** Returns the highest resident memory of a process in bytes, since its start or the last `forgetPeak`. */
export function peakBytes(pid: number): number {
  return statusBytes(pid, /^VmHWM:\s+(\d+) kB$/m)
}

/** Resets the peak to the current resident memory. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function statusBytes(pid: number, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/** Returns the CPU that all threads of a process have used, in milliseconds, in steps of ten. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // utime and stime, the 14th and 15th field of proc_pid_stat(5), in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Lists the ids of the running child processes of a process. */
export function childrenOf(pid: number): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return ids.filter((id) => parentOf(id) === pid).map(Number)
}

function parentOf(id: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${id}/status`, 'utf8')
    return /^State:\s+Z/m.test(status) ? undefined : Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1])
  } catch {
    return undefined // it has ended meanwhile
  }
}

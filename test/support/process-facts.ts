import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { drill } from './clustered.ts'

/** Whether this system tells about other processes, and a gateway is one; the functions below need it. */
export const hasProcessFacts = existsSync('/proc/self/fd') && drill === undefined

/** Number of files and sockets that a process has open. */
export function countOpenFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

/** CPU that all threads of a process have used, in milliseconds, in steps of ten. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // utime and stime, the 14th and 15th field of proc_pid_stat(5), in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Ids of the processes that a process has started and that still run. */
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

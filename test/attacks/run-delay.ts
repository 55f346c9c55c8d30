import { readdirSync, readFileSync } from 'node:fs'

/**
 * For how long threads that a reply waits for were ready but not running, in milliseconds: the gateway's loop, of its
 * other threads (which collect garbage and write rows) the one that waited longest, and the drill's own.
 */
export function runDelayMs(pid: number): number {
  const loopMs = delayMsOf(`/proc/${pid}/task/${pid}`)
  const otherMs = tasksOf(pid).map((task) => delayMsOf(task))
  const ownMs = tasksOf('self').reduce((sum, task) => sum + delayMsOf(task), 0)
  return loopMs + Math.max(0, ...otherMs) + ownMs
}

function tasksOf(pid: number | 'self'): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((id) => (Number(id) === pid ? [] : `/proc/${pid}/task/${id}`))
}

function delayMsOf(task: string): number {
  try {
    return Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0 // it has ended meanwhile
  }
}

/**
 * Measures a gateway from inside: loaded with `--import` by `startProbed`, it answers on a socket. Time is counted as CPU of
 * the loop's thread, which a busy machine does not change.
 */
import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

/** Measurements since the last report. */
export interface LoopReport {
  /** The most CPU between two turns of the loop, in milliseconds: for so long all others waited. */
  readonly longestTurnMs: number
  /** CPU of the loop's thread, in milliseconds. */
  readonly loopMs: number
  readonly memory: NodeJS.MemoryUsage
}

const TURN_MS = 5

const threadMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function open(name: string): void {
  let longestTurnMs = 0
  let turnedAtMs = threadMs()
  let reportedAtMs = turnedAtMs
  const turn = () => {
    const nowMs = threadMs()
    longestTurnMs = Math.max(longestTurnMs, nowMs - turnedAtMs)
    turnedAtMs = nowMs
  }
  setInterval(turn, TURN_MS).unref()
  const server = createServer((client) => {
    turn()
    const nowMs = threadMs()
    const report: LoopReport = { longestTurnMs, loopMs: nowMs - reportedAtMs, memory: process.memoryUsage() }
    client.on('error', () => {}).end(JSON.stringify(report))
    longestTurnMs = 0
    reportedAtMs = nowMs
  })
  server.listen(`\0${name}`).unref()
}

if (isMainThread && process.env.LOOP_PROBE !== undefined) open(process.env.LOOP_PROBE)

/** A thread that sends small requests all the time and measures how long each waits; on any message it reports and begins anew. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { ask, send } from '../support/http-client.ts'

/** Observations since the last report. */
export interface NeighbourReport {
  readonly waitsMs: readonly number[]
  readonly failures: readonly string[]
}

const PAUSE_MS = 40
const { url, authorization } = workerData as { url: string; authorization: string }
let waitsMs: number[] = []
let failures: string[] = []

parentPort?.on('message', () => {
  const report: NeighbourReport = { waitsMs, failures }
  parentPort?.postMessage(report)
  waitsMs = []
  failures = []
})

for (let i = 0; ; i++) {
  const startedAtMs = performance.now()
  const reply = await send(url, { body: ask(`question ${i}`), headers: { authorization }, timeoutMs: 120_000 }).catch(
    (error: Error) => ({
      status: 0,
      text: error.message,
    }),
  )
  waitsMs.push(performance.now() - startedAtMs)
  if (reply.status !== 200) failures.push(`${reply.status} ${reply.text.slice(0, 100)}`)
  await sleep(PAUSE_MS)
}

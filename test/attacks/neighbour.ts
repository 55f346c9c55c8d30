/** A thread that sends small requests all the time and measures how long each waits; on any message it reports and begins anew. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { ask, send } from '../support/http-client.ts'

const PAUSE_MS = 40
const { url } = workerData as { url: string }
let waitsMs: number[] = []
let failures: string[] = []

parentPort?.on('message', () => {
  parentPort?.postMessage({ waitsMs, failures })
  waitsMs = []
  failures = []
})

for (let i = 0; ; i++) {
  const startedAtMs = performance.now()
  const headers = { authorization: 'Bearer neighbour' }
  const reply = await send(url, { body: ask(`question ${i}`), headers, timeoutMs: 120_000 }).catch((error: Error) => ({
    status: 0,
    text: error.message,
  }))
  waitsMs.push(performance.now() - startedAtMs)
  if (reply.status !== 200) failures.push(`${reply.status} ${reply.text.slice(0, 100)}`)
  await sleep(PAUSE_MS)
}

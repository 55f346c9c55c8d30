import { performance } from 'node:perf_hooks'
import type { Pool } from 'undici'

/** End of one request. Times are milliseconds since it was handed to the pool. */
export interface Outcome {
  /** 0 when the connection broke. */
  status: number
  bytes: number
  /** Until the first byte of the reply's body. */
  firstByteMs: number
  totalMs: number
  error?: string
}

export interface Destination {
  path: string
  headers: Record<string, string>
}

/** Posts `body` and reads the whole reply, keeping only its size and times. Never rejects: see `error`. */
export function sendRequest(pool: Pool, { path, headers }: Destination, body: Buffer): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const outcome: Outcome = { status: 0, bytes: 0, firstByteMs: 0, totalMs: 0 }
  const startMs = performance.now()
  pool.dispatch(
    { method: 'POST', path, headers, body },
    {
      onRequestStart() {}, // Without it undici treats the object as a handler of its older kind.
      onResponseStart(_controller, status) {
        outcome.status = status
      },
      onResponseData(_controller, chunk) {
        if (outcome.bytes === 0) outcome.firstByteMs = performance.now() - startMs
        outcome.bytes += chunk.length
      },
      onResponseEnd() {
        outcome.totalMs = performance.now() - startMs
        resolve(outcome)
      },
      onResponseError(_controller, error) {
        resolve({ ...outcome, status: 0, error: error.message })
      },
    },
  )
  return promise
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Job, Result } from './load.ts'

/** Handle to the load generator's process. */
export interface LoadProcess {
  pid: number
  run(job: Job): Promise<Result>
  stop(): void
}

/** Starts the load generator. Jobs run one at a time, in the order they are given. */
export function startLoad(): LoadProcess {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  const gone = once(child, 'exit').then(() => {
    throw new Error('The load generator ended.')
  })
  gone.catch(() => {}) // Reported to the caller that awaits a result.
  return {
    pid: child.pid!, // A fork that fails throws.
    async run(job) {
      child.send(job)
      const [result] = await Promise.race([once(child, 'message'), gone])
      return result as Result
    },
    stop: () => void child.disconnect(),
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from './app.ts'
import type { Config } from './config/schema.ts'
import type { Log } from './core/ports.ts'
import { drain } from './http/server.ts'

/** `EX_SOFTWARE` of BSD's sysexits.h: an exception outside of every request. */
const EXIT_EXCEPTION = 70
const SAME_SIGNAL_MS = 500
/** Further exceptions that are logged while the process drains: a timer may throw each millisecond. */
const MOST_LOGGED = 20

/** What is stopped. */
export interface StoppingParts {
  readonly app: App
  readonly config: Config
  readonly log: Log
}

/**
 * Ends the process when it is told to, or when an exception was thrown outside of every request: both drain, which serves
 * for `server.drain_delay`, refuses new connections, and lets what runs finish for `server.drain_timeout`. A second signal
 * ends it at once. An exception while it drains changes the exit code alone.
 */
export function stopWhenAsked({ app, config, log }: StoppingParts): void {
  let draining = false
  let exitCode = 0
  const end = async (): Promise<void> => {
    if (draining) return
    draining = true
    let isClean = false
    try {
      app.endReadiness()
      await sleep(config.server.drain_delay)
      app.endFeeds()
      isClean = await drain(app.server, config.server.drain_timeout)
      await app.close()
    } finally {
      log.info({ isClean }, 'gateway.stopped')
      process.exit(exitCode)
    }
  }
  onSignal((signal) => {
    log.info({ signal }, 'gateway.draining')
    void end()
  })
  let thrown = 0
  // The state of what threw is unknown. Requests have their own handlers and go on; a supervisor starts a new process.
  process.on('uncaughtException', (error) => {
    if (thrown++ < MOST_LOGGED) log.error({ err: error }, 'process.uncaught-exception')
    if (thrown === 1) log.error({ exitCode: EXIT_EXCEPTION }, 'gateway.draining')
    exitCode = EXIT_EXCEPTION
    void end()
  })
}

function onSignal(first: (signal: string) => void): void {
  let sinceMs: number | undefined
  const receive = (signal: string): void => {
    // Ctrl-C reaches a whole process group, and parents forward it: what follows at once is the same signal.
    if (sinceMs !== undefined && Date.now() - sinceMs < SAME_SIGNAL_MS) return
    if (sinceMs !== undefined) process.exit(1)
    sinceMs = Date.now()
    first(signal)
  }
  process.on('SIGTERM', () => receive('SIGTERM'))
  process.on('SIGINT', () => receive('SIGINT'))
}

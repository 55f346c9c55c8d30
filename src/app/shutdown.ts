import type { Log } from '../core/ports/log.ts'
import type { OpenGateway } from './gateway.ts'

/** `EX_SOFTWARE` of BSD's sysexits.h: exit code for an exception outside of requests. */
const EXIT_EXCEPTION = 70
const SAME_SIGNAL_MS = 500
/** Most exceptions that are logged while the process drains: a timer may throw each millisecond. */
const MOST_LOGGED = 20

/**
 * Drains the gateway and exits on a signal, or after an exception outside of requests. A second signal exits at once.
 * An exception while draining only changes the exit code.
 */
export function stopWhenAsked(gateway: Pick<OpenGateway, 'stop'>, log: Log): void {
  let draining = false
  let exitCode = 0
  const end = async (): Promise<void> => {
    if (draining) return
    draining = true
    await gateway.stop().finally(() => process.exit(exitCode))
  }
  onSignal((signal) => {
    log.info({ signal }, 'gateway.draining')
    void end()
  })
  let thrown = 0
  // The state after the exception is unknown. Requests have their own handlers and finish; a supervisor restarts the
  // process.
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
    // Ctrl-C is sent to a whole process group, and parents forward it: a signal that follows at once is a duplicate.
    if (sinceMs !== undefined && Date.now() - sinceMs < SAME_SIGNAL_MS) return
    if (sinceMs !== undefined) process.exit(1)
    sinceMs = Date.now()
    first(signal)
  }
  process.on('SIGTERM', () => receive('SIGTERM'))
  process.on('SIGINT', () => receive('SIGINT'))
}

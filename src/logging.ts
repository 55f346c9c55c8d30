import pino, { type Logger } from 'pino'
import pretty from 'pino-pretty'
import type { RequestObserver, RequestRecord } from './core/ports.ts'

/** Members that never reach a log, wherever they stand. */
const REDACTED = ['authorization', 'x-api-key', 'x-provider-key', 'api_key', 'apiKey', 'secret', 'credential'].flatMap(
  (name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`],
)

/** A logger, and the function that writes out what it still holds. */
export interface Logging {
  readonly log: Logger
  flush(): void
}

/** Creates the log: lines for people on a terminal, JSON elsewhere, written asynchronously in both cases. */
export function createLogging({ level, isTerminal }: { level: string; isTerminal: boolean }): Logging {
  const options = { level, redact: { paths: REDACTED, censor: '[hidden]' }, base: null }
  if (isTerminal) {
    const stream = pretty({ colorize: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
    return { log: pino(options, stream), flush: () => {} }
  }
  const destination = pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 200 })
  return { log: pino(options, destination), flush: () => destination.flushSync() }
}

/** One line per request. */
export function requestLogger(log: Logger): RequestObserver {
  return (record) => {
    if (record.status >= 500) log.error(fieldsOf(record), 'request.failed')
    else log.info(fieldsOf(record), 'request.done')
  }
}

function fieldsOf({ exchange, error, ...rest }: RequestRecord): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    requestId: rest.requestId,
    method: rest.method,
    path: rest.path,
    status: rest.status,
    ms: Math.round(rest.durationMs * 10) / 10,
  }
  if (!rest.delivered) fields.delivered = false
  if (exchange !== undefined) {
    fields.model = exchange.request.model
    fields.provider = exchange.target.provider
    fields.pipe = exchange.pipeline
    if (exchange.trace.length > 0)
      fields.steps = exchange.trace.map(({ module, action }) => `${module}:${action}`).join(' ')
    const { usage } = exchange
    if (usage !== undefined) fields.tokens = { in: usage.inputTokens, out: usage.outputTokens }
  }
  if (error !== undefined) fields.err = error
  return fields
}

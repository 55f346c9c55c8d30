import pino, { type Logger } from 'pino'
import type pretty from 'pino-pretty'
import { LineBuffer, type Write } from './line-buffer.ts'

/** Members that never reach a log, wherever they stand. */
const REDACTED = ['authorization', 'x-api-key', 'x-provider-key', 'api_key', 'apiKey', 'secret', 'credential'].flatMap(
  (name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`],
)

/** How much is held back before it is written, and for how long at most. */
const BUFFERED_BYTES = 64 * 1024
const FLUSH_INTERVAL_MS = 100

/** The log, and what writes to the same place. */
export interface Logging {
  /** For everything that happens; members with a secret's name are hidden. */
  readonly log: Logger
  /** Writes a finished line of JSON, for what is logged too often for the above. */
  readonly writeLine: (line: string) => void
  /** Writes out what is still held back. */
  readonly flush: () => void
}

/** Input of `createLogging`. */
export interface LoggingOptions {
  readonly level: string
  readonly isTerminal: boolean
  /** Receives JSON; a terminal's lines go to standard output. */
  readonly write: Write
}

/** Creates the log: lines for people on a terminal, JSON elsewhere, collected and written in pieces. */
export async function createLogging({ level, isTerminal, write }: LoggingOptions): Promise<Logging> {
  const options = { level, redact: { paths: REDACTED, censor: '[hidden]' }, base: null }
  if (isTerminal) {
    const stream = await createPrettyStream()
    return { log: pino(options, stream), writeLine: (line) => void stream.write(line), flush: () => {} }
  }
  // Not the logger's own writer: when it flushes at the end and nobody reads any more, it tries for ever.
  const lines = new LineBuffer(write, { sizeBytes: BUFFERED_BYTES, intervalMs: FLUSH_INTERVAL_MS })
  const writeLine = (line: string) => lines.add(line)
  return { log: pino(options, { write: writeLine }), writeLine, flush: () => lines.flush() }
}

/** Members of a request's line that its text on a terminal says already. */
const SAID = ['method', 'path', 'status', 'ms', 'model', 'provider', 'pipe', 'steps', 'tokens', 'providerRequestId']

async function createPrettyStream(): Promise<ReturnType<typeof pretty>> {
  // Only for people: a gateway that writes JSON need not load it.
  const { default: prettyFor } = await import('pino-pretty')
  return prettyFor({
    colorize: true,
    ignore: ['pid', 'hostname', ...SAID].join(','),
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    messageFormat: (line, messageKey) => ('status' in line ? requestText(line) : String(line[messageKey])),
  })
}

/** `POST /v1/messages 200 in 7.3 ms · demo/echo · exact-cache:miss · 22 → 20 tokens` */
function requestText({ method, path, status, ms, model, steps, tokens }: Record<string, unknown>): string {
  const { in: input, out: output } = (tokens ?? {}) as { in?: number; out?: number }
  const counts = input === undefined ? undefined : `${input} → ${output} tokens`
  return [`${method} ${path} ${status} in ${ms} ms`, model, steps, counts]
    .filter((part) => part !== undefined)
    .join(' · ')
}

import pino, { type Logger } from 'pino'
import type pretty from 'pino-pretty'
import { LineBuffer, type Write } from './line-buffer.ts'

/** Members that are redacted, at any depth. */
const REDACTED = ['authorization', 'x-api-key', 'x-provider-key', 'api_key', 'apiKey', 'secret', 'credential'].flatMap(
  (name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`],
)

/** Bytes buffered before a write, and the longest delay. */
const BUFFERED_BYTES = 64 * 1024
const FLUSH_INTERVAL_MS = 100

/** The log, and other writers to the same output. */
export interface Logging {
  /** Logger for all events; members with a secret's name are redacted. */
  readonly log: Logger
  /** Writes a finished line of JSON, for events that are too frequent for the logger. */
  readonly writeLine: (line: string) => void
  /** Writes the buffered lines. */
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
  // Not the logger's own writer: when it flushes at the end without a reader, it retries forever.
  const lines = new LineBuffer(write, { sizeBytes: BUFFERED_BYTES, intervalMs: FLUSH_INTERVAL_MS })
  const writeLine = (line: string) => lines.add(line)
  return { log: pino(options, { write: writeLine }), writeLine, flush: () => lines.flush() }
}

/** Members of a request's line that its text on a terminal already contains. */
const SAID = ['method', 'path', 'status', 'ms', 'model', 'provider', 'pipe', 'steps', 'tokens', 'providerRequestId']

async function createPrettyStream(): Promise<ReturnType<typeof pretty>> {
  // Only for terminals: a gateway that writes JSON need not load it.
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

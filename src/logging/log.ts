import pino, { type Logger } from 'pino'
import pretty from 'pino-pretty'
import { LineBuffer } from './line-buffer.ts'

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

/** Creates the log: lines for people on a terminal, JSON elsewhere, written asynchronously in both cases. */
export function createLogging({ level, isTerminal }: { level: string; isTerminal: boolean }): Logging {
  const options = { level, redact: { paths: REDACTED, censor: '[hidden]' }, base: null }
  if (isTerminal) {
    const stream = pretty({ colorize: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
    return { log: pino(options, stream), writeLine: (line) => void stream.write(line), flush: () => {} }
  }
  const destination = pino.destination({ dest: 1, sync: false })
  const lines = new LineBuffer((piece) => destination.write(piece), {
    sizeBytes: BUFFERED_BYTES,
    intervalMs: FLUSH_INTERVAL_MS,
  })
  const flush = () => {
    lines.flush()
    destination.flushSync()
  }
  return { log: pino(options, destination), writeLine: (line) => lines.add(line), flush }
}

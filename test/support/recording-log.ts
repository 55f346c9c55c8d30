import type { Log } from '../../src/core/ports/log.ts'

/** One line that was logged. */
export interface LoggedLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  event: string
  fields: Record<string, unknown>
}

/** A log that keeps its lines. */
export interface RecordingLog extends Log {
  lines: LoggedLine[]
  /** Returns the names of the events so far. */
  events(): string[]
}

/** Creates a log that keeps its lines; children write to the same list, with their bindings. */
export function createRecordingLog(bindings: Record<string, unknown> = {}, lines: LoggedLine[] = []): RecordingLog {
  const keep = (level: LoggedLine['level']) => (fields: object, event: string) =>
    void lines.push({ level, event, fields: { ...bindings, ...fields } })
  return {
    lines,
    events: () => lines.map(({ event }) => event),
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    child: (more) => createRecordingLog({ ...bindings, ...more }, lines),
  }
}

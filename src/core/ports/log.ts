/** Structured log: an event named noun-verb, with fields. Shaped like pino's logger, which implements it. */
export interface Log {
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
  child(bindings: Record<string, unknown>): Log
}

import { type ErrorCode, GatewayError, messageOf } from '../../../core/errors.ts'

/** A fault as plain data that can be sent to another thread. */
export interface Fault {
  readonly code: ErrorCode
  /** Message for a client, without paths. */
  readonly message: string
  /** Reason for the log: the database's own message. */
  readonly reason: string
  /** True when the database is reachable, and cannot write. */
  readonly isWriteFailure?: boolean
}

/** Thrown when the database is reachable, and cannot write: its disk is full, it is read-only. */
export class WriteFailure extends GatewayError {}

/** Creates the error of an unusable database: a retry may succeed later. */
export function unavailable(message: string, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', message, cause === undefined ? {} : { cause })
}

/** Message for a SQLite file that was removed or replaced. */
export const FILE_LOST =
  'The database’s file was removed or replaced while it was in use. Put it back, or restart the gateway.'

/** Converts a fault of another thread to an error. */
export function toError({ code, message, reason, isWriteFailure }: Fault): GatewayError {
  const Kind = isWriteFailure ? WriteFailure : GatewayError
  return new Kind(code, message, { cause: new Error(reason) })
}

/** Messages for the primary result codes of SQLite (sqlite.org, "Result and Error Codes") that an operator can act on. */
const SQLITE_WORDS: Readonly<Record<number, string>> = {
  5: 'The database is locked by another process.',
  6: 'The database is locked by another process.',
  8: 'The database cannot be written to: its file or folder is read-only.',
  10: 'The database’s disk failed to read or write.',
  11: 'The database’s file is damaged. Restore a backup.',
  13: 'The database’s disk is full.',
  14: 'The database’s file cannot be opened. Check that its folder exists and may be written to.',
  26: 'The database’s file is not a database, or is damaged. Restore a backup.',
}

const SQLITE_UNWRITABLE = new Set([8, 13])

/** Converts an error of SQLite, or of a command on it, to a fault. */
export function sqliteFault(error: unknown): Fault {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error)
  if (error instanceof GatewayError) return { code: error.code, message: error.message, reason }
  const words = SQLITE_WORDS[sqliteCodeOf(error)]
  if (words !== undefined) {
    const isWriteFailure = SQLITE_UNWRITABLE.has(sqliteCodeOf(error))
    return { code: 'service_unavailable', message: words, reason, ...(isWriteFailure && { isWriteFailure }) }
  }
  return { code: 'internal_error', message: 'The database refused a command.', reason }
}

/** Another process is writing. */
export const SQLITE_BUSY = 5

/** Returns the primary result code, or -1 for another error. */
export function sqliteCodeOf(error: unknown): number {
  const isNumbered = typeof error === 'object' && error !== null && 'errcode' in error
  // The upper bytes of an extended code are more specific.
  return isNumbered && typeof error.errcode === 'number' ? error.errcode & 0xff : -1
}

/** Messages for the classes of SQLSTATE (PostgreSQL manual, appendix A) that concern the server and not the command. */
const POSTGRES_WORDS: readonly (readonly [prefix: string, words: string])[] = [
  ['53100', 'The database’s disk is full.'],
  ['53300', 'The database takes no more connections.'],
  ['53', 'The database is out of resources.'],
  ['57014', 'The database did not answer in time.'],
  ['57P', 'The database is starting or stopping.'],
  ['55P03', 'The database is locked.'],
  ['25006', 'The database is read-only at the moment.'],
  ['25P', 'The database did not answer in time.'],
  ['40', 'The database had too many changes at once.'],
  ['08', 'The database cannot be reached.'],
  ['28', 'The database refuses the user or password of `DATABASE_URL`.'],
  ['3D', 'The database that `DATABASE_URL` names does not exist.'],
  ['58', 'The database’s disk failed to read or write.'],
  ['XX001', 'The database is damaged. Restore a backup.'],
]

/** Converts an error of PostgreSQL, its connection, or a command on it. */
export function postgresError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  const state = sqlStateOf(error)
  if (state === undefined) return unavailable('The database cannot be reached.', error)
  const words = POSTGRES_WORDS.find(([prefix]) => state.startsWith(prefix))?.[1]
  if (words === undefined)
    return new GatewayError('internal_error', 'The database refused a command.', { cause: error })
  return POSTGRES_UNWRITABLE.has(state)
    ? new WriteFailure('service_unavailable', words, { cause: error })
    : unavailable(words, error)
}

const POSTGRES_UNWRITABLE = new Set(['53100', '25006'])

/** Returns the SQLSTATE of the server's own error; `undefined` for a connection error. */
export function sqlStateOf(error: unknown): string | undefined {
  const isSent = typeof error === 'object' && error !== null && 'severity' in error && 'code' in error
  return isSent && typeof error.code === 'string' ? error.code : undefined
}

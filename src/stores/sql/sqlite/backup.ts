import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { GatewayError } from '../../../core/errors.ts'
import { makeFolder } from '../../../core/system/make-folder.ts'
import { sqliteFault, toError } from '../engine/faults.ts'

/** All in one step: between steps, writes of other processes would restart the copy. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies a database that is in use into a new file: complete, and as of one moment. The file gets its name when
 * it is complete. Throws `invalid_request` when there is nothing to copy or the file exists; else SQLite's error as a message.
 */
export async function backUp(source: string, target: string): Promise<void> {
  if (!existsSync(source)) throw new GatewayError('not_found', `There is no database at ${source}.`)
  assertNew(target)
  const unfinished = `${target}.unfinished`
  try {
    makeFolder(path.dirname(path.resolve(target)))
    await copy(source, unfinished)
    chmodSync(unfinished, 0o600)
    renameSync(unfinished, target)
  } catch (error) {
    throw toError(sqliteFault(error))
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** Throws `invalid_request` when the file exists. */
export function assertNew(file: string): void {
  if (existsSync(file)) throw new GatewayError('invalid_request', `${file} exists. Name a new file.`)
}

async function copy(source: string, target: string): Promise<void> {
  // A connection of its own: the thread's one continues to write.
  const database = new DatabaseSync(source, { readOnly: true })
  try {
    await backup(database, target, { rate: ALL_PAGES })
  } finally {
    database.close()
  }
}

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { errorCodeOf } from '../errors.ts'
import { makeFolder } from './make-folder.ts'

const OWNER_ONLY = 0o600

/**
 * Creates a file that its owner alone can read, unless it exists. Linking a complete file into place is atomic, and fails
 * when another process was first. Throws the system's error.
 */
export function createOwnerFile(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`
  try {
    makeFolder(path.dirname(file))
    writeWhole(draft, text)
    linkIfFree(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

function writeWhole(file: string, text: string): void {
  const handle = openSync(file, 'wx', OWNER_ONLY)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function linkIfFree(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
}

import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Creates a folder and its parents, with this mode. Throws the system's error, at once: Node's own `recursive` retries
 * without end in a place like `/proc`, where a folder cannot be created although its parent exists.
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return
  const above = path.dirname(folder)
  if (stat === undefined && above !== folder) makeFolder(above, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have been first.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Task } from './tasks.ts'

/** A folder with a task's files; `using` removes it. */
export interface Folder extends Disposable {
  readonly path: string
  /** Returns the files on disk: contents by path. */
  files(): Record<string, string>
}

/** Puts the files of a task into a folder of their own. */
export function createFolder({ name, files }: Task): Folder {
  const root = mkdtempSync(path.join(tmpdir(), `turnpike-${name}-`))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  return {
    path: root,
    files: () => contentsOf(root),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

function contentsOf(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map((entry) => path.join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(files.map((file) => [path.relative(root, file), readFileSync(file, 'base64')]))
}

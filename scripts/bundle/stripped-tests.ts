/**
 * DESIGN. Tests and what they import, without types. Node strips a file in the thread that imports it, with a program of its
 * own that each thread compiles first: 45 ms of CPU for each of hundreds of threads in a fresh clone. Here one thread does
 * it for all files. Types become blanks, so lines and columns stay.
 *
 * `node_modules/.cache/turnpike/stripped/<version of Node>/<path of the file>.js`, as old as the file; read by
 * `test/support/bundled-sources.mjs`.
 */
import { mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { ownFiles } from '../own-files.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const FOLDER = path.join('node_modules/.cache/turnpike/stripped', process.version)
const FILES = ['{src,plugins,test,eval,scripts}/**/*.ts']

/** Strips the files that have changed, and returns the folder of all. */
export function stripTests(root = ROOT): string {
  const folder = path.join(root, FOLDER)
  for (const file of ownFiles(FILES, root)) {
    const source = path.join(root, file)
    const stripped = path.join(folder, `${file}.js`)
    const { atime, mtime } = statSync(source)
    if (statSync(stripped, { throwIfNoEntry: false })?.mtimeMs === mtime.getTime()) continue
    mkdirSync(path.dirname(stripped), { recursive: true })
    const unfinished = `${stripped}-${process.pid}`
    writeFileSync(unfinished, stripTypeScriptTypes(readFileSync(source, 'utf8')))
    utimesSync(unfinished, atime, mtime)
    renameSync(unfinished, stripped) // concurrent runs read it
  }
  return folder
}

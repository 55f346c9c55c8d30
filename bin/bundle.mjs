// Decides between the bundle `dist` and the sources that it was made of. Plain JavaScript, since any Node may read it.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = path.join(ROOT, 'src')
const SOURCE = /\.(ts|bin)$/
const STAMP = path.join(ROOT, 'dist/sources.json')

/** Records the sources of a bundle that was just written. */
export function writeStamp() {
  const plugins = readdirSync(path.join(ROOT, 'plugins'))
  writeFileSync(STAMP, `${JSON.stringify({ plugins, digest: digestOf(plugins) })}\n`)
}

/**
 * The folder to run: `dist`, or `src` where there is no bundle, or any source is another than it was when the bundle was
 * made. An installed package has no sources beside its bundle. About 10 ms in a checkout.
 */
export function folderToRun() {
  if (!existsSync(STAMP)) return 'src'
  if (!existsSync(SOURCES)) return 'dist'
  const { plugins, digest } = JSON.parse(readFileSync(STAMP, 'utf8'))
  return digest === digestOf(plugins) ? 'dist' : 'src'
}

/**
 * A digest of names, sizes and times of change; of plugins those that are in the bundle. Every start in a checkout does
 * this: paths are joined as text, since `node:path` and recursive reading become so hot with a thousand files that the
 * engine optimises them, which takes 3 MB.
 */
function digestOf(plugins) {
  const lines = []
  for (const folder of ['src', ...plugins.map((name) => `plugins/${name}`)]) describeFolder(folder, lines)
  lines.push(describe('package-lock.json'))
  return createHash('sha1').update(lines.join('')).digest('hex')
}

function describeFolder(folder, lines) {
  if (!existsSync(ROOT + folder)) return
  for (const name of readdirSync(ROOT + folder).sort()) {
    const file = `${folder}/${name}`
    if (SOURCE.test(name) && !name.endsWith('.test.ts')) lines.push(describe(file))
    else if (!name.includes('.') && statSync(ROOT + file).isDirectory()) describeFolder(file, lines)
  }
}

function describe(file) {
  const { size = 0, mtimeMs = 0 } = statSync(ROOT + file, { throwIfNoEntry: false }) ?? {}
  return `${file} ${size} ${mtimeMs}\n`
}

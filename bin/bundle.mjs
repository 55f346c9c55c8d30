// Decides between the bundle `dist` and the sources that it was made of. Plain JavaScript, since any Node may read it.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = path.join(ROOT, 'src')
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

/** A digest of names, sizes and times of change; of plugins those that are in the bundle. */
function digestOf(plugins) {
  const digest = createHash('sha1')
  const folders = [SOURCES, ...plugins.map((name) => path.join(ROOT, 'plugins', name))]
  for (const file of [...folders.flatMap(sourcesIn), path.join(ROOT, 'package-lock.json')]) {
    const { size = 0, mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {}
    digest.update(`${path.relative(ROOT, file)} ${size} ${mtimeMs}\n`)
  }
  return digest.digest('hex')
}

function sourcesIn(folder) {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder, { recursive: true }).filter((name) => /\.(ts|bin)$/.test(name))
  return names
    .filter((name) => !name.endsWith('.test.ts'))
    .sort()
    .map((name) => path.join(folder, name))
}

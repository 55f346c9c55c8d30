/**
 * Bundles packages of hundreds of modules into a file each, for tests from the sources: every file of tests and every
 * thread of a gateway loads them anew, in a sixth of the time. The bundles are rebuilt after another installation.
 *
 * `node_modules/.cache/turnpike/packages/<digest of the lockfile>/<name>.mjs`, and `names.json` for the hook that
 * resolves to them (`test/support/one-file-packages.mjs`).
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = path.resolve(import.meta.dirname, '..')
const CACHE = path.join(ROOT, 'node_modules/.cache/turnpike/packages')
const PACKAGES = ['fast-check', 'kysely', 'kysely/migration', 'zod']

/** Builds the bundles, unless they exist; returns the file that maps names to URLs. */
export async function bundlePackages() {
  const lockfile = readFileSync(path.join(ROOT, 'package-lock.json'))
  const folder = path.join(CACHE, createHash('sha256').update(lockfile).digest('hex').slice(0, 16))
  const names = path.join(folder, 'names.json')
  if (!existsSync(names)) await bundle(folder)
  return names
}

async function bundle(folder) {
  const { rolldown } = await import('rolldown')
  const files = Object.fromEntries(PACKAGES.map((name) => [name, `${name.replace('/', '-')}.mjs`]))
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(`${folder}-`)
  const made = await rolldown({
    input: Object.fromEntries(PACKAGES.map((name) => [name.replace('/', '-'), name])),
    cwd: ROOT,
    platform: 'node',
    treeshake: false,
    logLevel: 'silent',
  })
  await made.write({
    dir: unfinished,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await made.close()
  const urls = Object.entries(files).map(([name, file]) => [name, pathToFileURL(path.join(folder, file)).href])
  writeFileSync(path.join(unfinished, 'names.json'), JSON.stringify(Object.fromEntries(urls)))
  try {
    renameSync(unfinished, folder)
  } catch {
    rmSync(unfinished, { recursive: true }) // a concurrent run has made them
  }
}

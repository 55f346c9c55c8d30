/**
 * Finds the servers that the tests need, or installs them: `redis-server`, as `node_modules/.cache/services/redis-server`.
 *
 * On PATH: linked from there. Else, with apt-get: installed when run by root, unpacked under `node_modules/.cache` when not.
 * Where none of that works it says so in one line and exits with 1: a test is never passed over in silence.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache/services')
const SERVER = path.join(CACHE, 'redis-server')
const UNPACKED = path.join(CACHE, 'unpacked')

/** The server's packages and the libraries that a bare Debian lacks; `redis-tools` holds the program itself. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'liblua5.1-0', 'lua-bitop', 'lua-cjson']
const INSTALL = ['install', '-y', '-q', '--no-install-recommends', 'redis-server']

function provide(): void {
  if (works(SERVER)) return
  rmSync(CACHE, { recursive: true, force: true })
  mkdirSync(UNPACKED, { recursive: true })
  if (!linkFromPath()) {
    if (process.getuid?.() === 0) install()
    else unpack()
  }
  if (!works(SERVER)) throw new Error('it does not run')
  console.log(`redis-server: ${SERVER}`)
}

function linkFromPath(): boolean {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const found = folders.map((folder) => path.join(folder, 'redis-server')).find(works)
  if (found !== undefined) symlinkSync(found, SERVER)
  return found !== undefined
}

function install(): void {
  try {
    run('apt-get', INSTALL)
  } catch {
    // The lists of packages may never have been fetched, or may be old.
    run('apt-get', ['update', '-q'])
    run('apt-get', INSTALL)
  }
  linkFromPath()
}

function unpack(): void {
  run('apt-get', ['download', '-q', ...PACKAGES])
  for (const file of readdirSync(UNPACKED)) if (file.endsWith('.deb')) run('dpkg', ['-x', file, UNPACKED])
  const libraries = globSync(`${UNPACKED}/usr/lib/*-linux-gnu*`).join(':')
  const program = path.join(UNPACKED, 'usr/bin/redis-server')
  writeFileSync(SERVER, `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${program}' "$@"\n`)
  chmodSync(SERVER, 0o755)
}

function works(program: string): boolean {
  return existsSync(program) && spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
}

/** Runs a program in the folder of unpacked packages. Throws with the last line that it said when it fails. */
function run(program: string, words: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { error, status, stderr } = spawnSync(program, words, { cwd: UNPACKED, env, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${words[0]}: ${stderr.trim().split('\n').at(-1)}`)
}

try {
  provide()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  console.error(`The tests need redis-server on PATH; it was not found and could not be installed (${reason}).`)
  process.exitCode = 1
}

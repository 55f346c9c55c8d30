/**
 * Sees to it that the servers which the tests start are on PATH: `redis-server`.
 *
 * Not there, it is installed with apt-get when run by root; otherwise its packages are unpacked under
 * `node_modules/.cache` and it is put into `node_modules/.bin`, which npm has on the PATH of its scripts.
 * Where that is impossible it says so in one line and exits with 1: a test is never passed over in silence.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const MODULES = path.resolve(import.meta.dirname, '../node_modules')
const SERVER = path.join(MODULES, '.bin/redis-server')
const UNPACKED = path.join(MODULES, '.cache/redis-server')

/** The server's packages and the libraries that a bare Debian lacks; `redis-tools` holds the program itself. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'liblua5.1-0', 'lua-bitop', 'lua-cjson']
const INSTALL = ['install', '-y', '-q', '--no-install-recommends', 'redis-server']

function provide(): void {
  if (works('redis-server') || works(SERVER)) return
  if (process.getuid?.() === 0) install()
  else unpack()
  if (!works('redis-server') && !works(SERVER)) throw new Error('it does not run')
}

function install(): void {
  try {
    run('apt-get', INSTALL)
  } catch {
    // The lists of packages may never have been fetched, or may be old.
    run('apt-get', ['update', '-q'])
    run('apt-get', INSTALL)
  }
}

function unpack(): void {
  rmSync(UNPACKED, { recursive: true, force: true })
  mkdirSync(UNPACKED, { recursive: true })
  run('apt-get', ['download', '-q', ...PACKAGES], UNPACKED)
  for (const file of readdirSync(UNPACKED)) run('dpkg', ['-x', file, UNPACKED], UNPACKED)
  const libraries = globSync(`${UNPACKED}/usr/lib/*-linux-gnu*`).join(':')
  const program = path.join(UNPACKED, 'usr/bin/redis-server')
  mkdirSync(path.dirname(SERVER), { recursive: true })
  writeFileSync(SERVER, `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${program}' "$@"\n`)
  chmodSync(SERVER, 0o755)
}

function works(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
}

/** Runs a program. Throws with the last line that it said when it fails. */
function run(program: string, words: readonly string[], folder?: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { error, status, stderr } = spawnSync(program, words, { cwd: folder, env, encoding: 'utf8' })
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

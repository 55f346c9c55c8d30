/**
 * Ensures that the programs which the tests start are installed: `redis-server` on PATH, PostgreSQL, and Chromium;
 * `npm run services -- drills` also `slowhttptest`, for `npm run drill:slow`.
 *
 * Missing ones are installed with apt-get when run by root; otherwise their packages are unpacked under
 * `node_modules/.cache`, and `redis-server` and `slowhttptest` are put into `node_modules/.bin`, which npm has on the PATH of its scripts.
 * Where that is impossible it prints one line each and exits with 1: no test is skipped silently.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findChromium, UNPACKED_CHROMIUM } from './find-chromium.ts'
import { findPostgres, UNPACKED_POSTGRES } from './find-postgres.ts'

const MODULES = path.resolve(import.meta.dirname, '../node_modules')

/** Server packages and the libraries that a bare Debian lacks; `redis-tools` contains the program itself. */
const REDIS_PACKAGES = [
  'redis-server',
  'redis-tools',
  'libjemalloc2',
  'liblzf1',
  'liblua5.1-0',
  'lua-bitop',
  'lua-cjson',
]

/** Libraries that PostgreSQL names and every Debian has, or that only its JIT compiler needs. */
const NOT_UNPACKED = /^lib(c6|c-bin|gcc|stdc|crypt1|llvm|perl|z3)|-perl$/

/** Exit code of a shell whose program, or a library of it, is missing. */
const NOT_STARTED = 127

interface Service {
  readonly name: string
  isThere(): boolean
  /** Packages to install as root: the first that can be. */
  readonly installs: readonly [string, ...string[]]
  unpack(): void
}

const SERVICES: readonly Service[] = [
  programOf('redis-server', REDIS_PACKAGES),
  {
    name: 'PostgreSQL',
    isThere: () => findPostgres() !== undefined,
    installs: ['postgresql'],
    unpack: unpackPostgres,
  },
  {
    name: 'Chromium',
    isThere: () => findChromium() !== undefined,
    installs: ['chromium-headless-shell', 'chromium'],
    unpack: unpackChromium,
  },
]
const SERVICES_OF_DRILLS: readonly Service[] = [programOf('slowhttptest', ['slowhttptest', 'libssl3'])]

/** Describes a program on PATH, unpacked from these packages where it cannot be installed. */
function programOf(name: string, packages: readonly string[]): Service {
  return {
    name: `${name} on PATH`,
    isThere: () => works(name) || works(linkTo(name)),
    installs: [name],
    unpack: () => unpackProgram(name, packages),
  }
}

function provide({ isThere, installs, unpack }: Service): void {
  if (isThere()) return
  if (process.getuid?.() === 0) install(installs)
  else unpack()
  if (!isThere()) throw new Error('it does not run')
}

function install([name, ...others]: Service['installs']): void {
  const [other, ...rest] = others
  try {
    installOne(name)
  } catch (error) {
    if (other === undefined) throw error
    install([other, ...rest])
  }
}

function installOne(name: string): void {
  const words = ['install', '-y', '-q', '--no-install-recommends', name]
  try {
    run('apt-get', words)
  } catch {
    // The package lists may be missing or outdated.
    run('apt-get', ['update', '-q'])
    run('apt-get', words)
  }
}

function linkTo(name: string): string {
  return path.join(MODULES, '.bin', name)
}

function unpackProgram(name: string, packages: readonly string[]): void {
  const folder = path.join(MODULES, '.cache', name)
  unpackPackages(packages, folder)
  const libraries = globSync(`${folder}/usr/lib/*-linux-gnu*`).join(':')
  const program = path.join(folder, 'usr/bin', name)
  mkdirSync(path.join(MODULES, '.bin'), { recursive: true })
  writeFileSync(linkTo(name), `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${program}' "$@"\n`)
  chmodSync(linkTo(name), 0o755)
}

/** Unpacks PostgreSQL, which finds the rest of its files relative to its program. */
function unpackPostgres(): void {
  const [server] = /postgresql-\d+/.exec(run('apt-cache', ['depends', 'postgresql'])) ?? []
  if (server === undefined) throw new Error('apt-cache has no version of it')
  unpackPackages([server, ...librariesOf(server)], UNPACKED_POSTGRES)
}

function unpackChromium(): void {
  unpackPackages(['chromium', 'chromium-common', ...librariesOf('chromium')], UNPACKED_CHROMIUM)
}

/** Returns the libraries that a package depends on, recursively, as far as a bare system may lack them. */
function librariesOf(name: string): string[] {
  const needed = run('apt-cache', ['depends', '--recurse', '--important', name]).match(/^lib\S+$/gm) ?? []
  return [...new Set(needed)].filter((library) => !NOT_UNPACKED.test(library))
}

function unpackPackages(packages: readonly string[], folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  run('apt-get', ['download', '-q', ...packages], folder)
  for (const file of readdirSync(folder)) run('dpkg', ['-x', file, folder], folder)
}

/** True if a program starts: not each knows `--version`. */
function works(program: string): boolean {
  const { error, status } = spawnSync(program, ['--version'], { stdio: 'ignore' })
  return error === undefined && status !== NOT_STARTED
}

/** Runs a program and returns its output. Throws with the last line of its errors when it fails. */
function run(program: string, words: readonly string[], folder?: string): string {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { error, status, stdout, stderr } = spawnSync(program, words, { cwd: folder, env, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${words[0]}: ${stderr.trim().split('\n').at(-1)}`)
  return stdout
}

const isForDrills = process.argv.includes('drills')
for (const service of [...SERVICES, ...(isForDrills ? SERVICES_OF_DRILLS : [])]) {
  try {
    provide(service)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`The tests need ${service.name}; it was not found and could not be installed (${reason}).`)
    process.exitCode = 1
  }
}

#!/usr/bin/env node
// The door of the command line. Plain JavaScript that any Node can read, so that too old a one gets a plain answer.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED = [24, 12]
const STRIP_TYPES = new URL('./strip-types.mjs', import.meta.url)
const { resolve } = module.createRequire(import.meta.url)

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

/** The Node that is installed beside turnpike, or with it. */
function findBundled() {
  const found = resolve
    .paths('node')
    .map((folder) => path.join(folder, 'node/bin/node'))
    .find(existsSync)
  if (found !== undefined) return found
  console.error(
    `turnpike needs Node ${NEEDED.join('.')} or newer; this is Node ${process.versions.node}.\n` +
      'Run `npm ci` in the folder of turnpike (it brings a Node of its own), or install a newer Node.',
  )
  process.exit(1)
}

const isOld = !isNewEnough(process.versions.node)
const isInstalled = STRIP_TYPES.pathname.includes('/node_modules/')
const isHooked = process.execArgv.includes(STRIP_TYPES.href)

if (isOld || (isInstalled && !isHooked)) {
  const options = isInstalled ? ['--disable-warning=ExperimentalWarning', '--import', STRIP_TYPES.href] : []
  const words = [...options, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(isOld ? findBundled() : process.execPath, words, { stdio: 'inherit' })
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => child.kill(name))
  child.once('exit', (code, signal) => process.exit(signal === null ? code : 1))
} else {
  // Types are stripped and code is compiled once, not at every start. Where the folder cannot be written, each time.
  // This thread is told by the call, those that it starts by the variable.
  const cache = fileURLToPath(new URL('../node_modules/.cache/turnpike', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache
  module.enableCompileCache(cache)
  const { runCommandLine } = await import('../src/cli/main.ts')
  await runCommandLine(process.argv)
}

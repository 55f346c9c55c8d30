#!/usr/bin/env node
// The door of the command line. Plain JavaScript that any Node can read, so that too old a one gets a plain answer.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED = [24, 12]
const OWN_FILE = /^\.\.?\/.*\.js$/
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
      'Install a newer Node, or run `npm ci` in a checkout of turnpike (it brings a Node of its own).',
  )
  process.exit(1)
}

function runOn(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => child.kill(name))
  child.once('exit', (code, signal) => process.exit(signal === null ? code : 1))
}

/**
 * Resolves the imports of the bundle's files among each other as they are written. Node would look for links in the path
 * of each, two hundred times in a start, and then optimise its functions for paths, which takes 5 MB.
 */
function resolveAsWritten(bundle) {
  module.registerHooks({
    resolve: (specifier, context, next) =>
      OWN_FILE.test(specifier) && context.parentURL?.startsWith(bundle)
        ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
        : next(specifier, context),
  })
}

async function run() {
  // Code is compiled once, not at every start. Where the folder cannot be written, each time.
  // This thread is told by the call, those that it starts by the variable.
  const cache = fileURLToPath(new URL('../node_modules/.cache/turnpike', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  const { folderToRun } = await import('./bundle.mjs')
  const isBundled = folderToRun() === 'dist'
  if (isBundled) resolveAsWritten(new URL('../dist/', import.meta.url).href)
  const { runCommandLine } = isBundled ? await import('../dist/cli/main.js') : await import('../src/cli/main.ts')
  await runCommandLine(process.argv)
}

const [word, ...more] = process.argv.slice(2)
if (['-V', '--version'].includes(word) && more.length === 0) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  console.log(version)
} else if (isNewEnough(process.versions.node)) await run()
else runOn(findBundled())

#!/usr/bin/env node
// The door of the command line. Plain JavaScript that any Node can read, so that too old a one gets a plain answer.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const NEEDED = [24, 12]

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

if (isNewEnough(process.versions.node)) {
  // Types are stripped and code is compiled once, not at every start. Where the folder cannot be written, each time.
  // This thread is told by the call, those that it starts by the variable.
  const cache = fileURLToPath(new URL('../node_modules/.cache/turnpike', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache
  module.enableCompileCache(cache)
  const { runCommandLine } = await import('../src/cli/main.ts')
  await runCommandLine(process.argv)
} else {
  const bundled = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  if (!existsSync(bundled)) {
    console.error(
      `turnpike needs Node ${NEEDED.join('.')} or newer; this is Node ${process.versions.node}.\n` +
        'Run `npm ci` in the folder of turnpike (it brings a Node of its own), or install a newer Node.',
    )
    process.exit(1)
  }
  const child = spawn(bundled, process.argv.slice(1), { stdio: 'inherit' })
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => child.kill(name))
  child.once('exit', (code, signal) => process.exit(signal === null ? code : 1))
}

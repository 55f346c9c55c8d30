import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { runCommand } from '../support/command-line.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

const ENTRY = readFileSync(path.join(import.meta.dirname, '../../bin/turnpike.mjs'), 'utf8')

/** The entry file, with a version that no Node has. */
const strictEntry = ENTRY.replace(/const NEEDED = \[.*\]/, 'const NEEDED = [999, 0]')

test('cli: a Node that is too old gets a plain error when the project has none of its own', async (t) => {
  t.not(strictEntry, ENTRY)
  const entry = createPluginDirectory(t).put('bin/turnpike.mjs', strictEntry)
  const { code, stdout, stderr } = await runCommand(['start'], { entry })
  t.is(code, 1)
  t.is(stdout, '')
  t.regex(stderr, /^turnpike needs Node 999\.0 or newer; this is Node [\d.]+\.\nInstall a newer Node, or run `npm ci`/)
  t.notRegex(stderr, / {4}at /)
})

test('cli: a Node that is too old hands over to the project’s own, with arguments, output and exit code', async (t) => {
  const project = createPluginDirectory(t)
  const entry = project.put('bin/turnpike.mjs', strictEntry)
  const own = project.put('node_modules/node/bin/node', '#!/bin/sh\necho "own: $@"\nexit 7\n')
  chmodSync(own, 0o755)
  const { code, stdout } = await runCommand(['plugin', 'list', '--json'], { entry })
  t.is(code, 7)
  t.is(stdout, `own: ${entry} plugin list --json\n`)
})

/** Finds a Node on this machine that is older than the required one. */
function findOldNode(): string | undefined {
  const folders = new Set([...(process.env.PATH ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin'])
  const nodes = [...folders]
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => path.join(folder, 'node'))
  return nodes.find((node) => Number(versionOf(node)?.split('.')[0]) < 24)
}

function versionOf(node: string): string | undefined {
  try {
    return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return undefined // there is none
  }
}

const oldNode = findOldNode()

// A machine without an old Node has the two tests above.
if (oldNode !== undefined) {
  test('cli: the old Node of this machine runs the command line in the project’s own Node', async (t) => {
    const { code, stdout, stderr } = await runCommand(['config', '--json'], { node: oldNode })
    t.is(code, 0, stderr)
    t.true(Array.isArray(JSON.parse(stdout).options))
  })

  test('cli: the old Node of this machine gets the plain error', async (t) => {
    const entry = createPluginDirectory(t).put('bin/turnpike.mjs', ENTRY)
    const { code, stderr } = await runCommand(['start'], { entry, node: oldNode })
    t.is(code, 1)
    t.regex(stderr, /^turnpike needs Node \d+\.\d+ or newer; this is Node /)
  })
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { messageOf } from '../core/errors.ts'
import { loadPlugin, pluginFolderAt } from '../pipeline/load.ts'
import { CommandError } from './exit-codes.ts'
import { addHelp } from './help.ts'
import { loadOffline } from './offline.ts'
import { pluginTemplate } from './plugin-template.ts'

const PLUGIN_NAME = /^[a-z][a-z0-9-]{0,63}$/

/** Adds `turnpike plugin new|list|check|test`. */
export function addPluginCommand(program: Command): void {
  const plugin = program.command('plugin').description('Create and inspect plugins.')
  const create = plugin
    .command('new')
    .description('Write a plugin folder with a passing test.')
    .argument('<name>', 'lower-case letters, digits and hyphens')
    .option('-d, --dir <directory>', 'where to put the folder; the first of plugins.dirs, else ./plugins')
    .option('--json', 'print JSON')
    .action(createPlugin)
  const list = plugin
    .command('list')
    .description('List the installed plugins.')
    .option('--json', 'print JSON')
    .action(listPlugins)
  const check = plugin
    .command('check')
    .description('Import, configure and set up one plugin folder, and report faults.')
    .argument('<folder>', 'the plugin’s folder')
    .option('--json', 'print JSON')
    .action(checkPlugin)
  const test = plugin
    .command('test')
    .description('Run the tests of a plugin folder, at any path.')
    .argument('<folder>', 'the plugin’s folder')
    .action(testPlugin)
  addHelp(create, { examples: ['turnpike plugin new hello', 'turnpike plugin new hello --dir my-plugins'] })
  addHelp(list, { examples: ['turnpike plugin list', 'turnpike plugin list --json'] })
  addHelp(check, {
    examples: ['turnpike plugin check my-plugins/hello'],
    exits: { 1: 'the plugin has a fault' },
  })
  addHelp(test, { examples: ['turnpike plugin test my-plugins/hello'], exits: { 1: 'a test has failed' } })
}

async function createPlugin(name: string, { dir, json }: { dir?: string; json?: boolean }): Promise<void> {
  if (!PLUGIN_NAME.test(name))
    throw new CommandError(2, `Expected a name of lower-case letters, digits and hyphens, got \`${name}\`.`)
  const folder = path.resolve(dir ?? loadConfig(process.env).config.plugins.dirs[0] ?? 'plugins', name)
  if (existsSync(folder)) throw new Error(`\`${folder}\` exists already.`)
  await mkdir(folder, { recursive: true })
  for (const [file, text] of Object.entries(pluginTemplate(name))) await writeFile(path.join(folder, file), text)
  if (json) return void process.stdout.write(`${JSON.stringify({ name, folder })}\n`)
  process.stdout.write(
    `Wrote ${folder}\n  index.ts   the plugin\n  test.ts    its test: turnpike plugin test ${path.relative('.', folder)}\n  README.md\n` +
      `With the gateway running, send a request with the header  x-svc-pipe: ${name}\n`,
  )
}

async function listPlugins({ json }: { json?: boolean }): Promise<void> {
  const { registry, close } = await loadOffline()
  const plugins = registry.names
    .flatMap((name) => registry.get(name) ?? [])
    .map(({ definition, folder }) => ({
      name: definition.name,
      summary: definition.summary,
      onError: definition.onError,
      perRequest: definition.perRequest,
      folder,
    }))
  const broken = registry.broken.map(({ name, folder, reason }) => ({ name, folder, reason }))
  await close()
  if (broken.length > 0) process.exitCode = 1
  if (json) return void process.stdout.write(`${JSON.stringify([...plugins, ...broken], undefined, 2)}\n`)
  const width = Math.max(...[...plugins, ...broken].map(({ name }) => name.length))
  for (const { name, summary, folder } of plugins)
    process.stdout.write(`${name.padEnd(width)}  ${summary}\n${' '.repeat(width)}  ${path.relative('.', folder)}\n`)
  for (const { name, reason } of broken) process.stdout.write(`${name.padEnd(width)}  BROKEN: ${reason}\n`)
}

async function checkPlugin(folder: string, { json }: { json?: boolean }): Promise<void> {
  const found = pluginFolderAt(path.resolve(folder))
  if (found === undefined) throw new Error(`\`${folder}\` has no index.ts, index.js or index.mjs.`)
  const { install, close } = await loadOffline()
  try {
    const configured = install.configured.get(found.name) ?? {}
    const plugin = await loadPlugin(found, { ...install, configured, version: 0 })
    await plugin.close()
    const { name, summary } = plugin.definition
    process.stdout.write(json ? `${JSON.stringify({ name, summary, fine: true })}\n` : `${name}: fine. ${summary}\n`)
  } catch (error) {
    if (json) process.stdout.write(`${JSON.stringify({ name: found.name, fine: false, reason: messageOf(error) })}\n`)
    throw new Error(messageOf(error), { cause: error })
  } finally {
    await close()
  }
}

/** Runs Node's own test runner, with the plugin API resolvable for folders outside of the project. */
async function testPlugin(folder: string): Promise<void> {
  const hooks = new URL('../pipeline/hooks.ts', import.meta.url).href
  const open = `data:text/javascript,import{installPluginHooks}from${encodeURIComponent(JSON.stringify(hooks))};installPluginHooks()`
  const child = spawn(
    process.execPath,
    ['--import', open, '--test', `${path.resolve(folder)}/**/{test,*.test}.{ts,js,mjs}`],
    { stdio: 'inherit' },
  )
  const [code] = await once(child, 'exit')
  process.exitCode = Number(code ?? 1)
}

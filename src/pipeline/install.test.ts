import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../test/support/eventually.ts'
import { createPluginDirectory, pluginSource } from '../../test/support/plugin-folders.ts'
import { createPluginServices } from '../../test/support/plugin-services.ts'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { type InstallOptions, installPlugins, PluginReloader, requiredPlugins } from './install.ts'
import { PluginError } from './load.ts'
import { PluginRegistry } from './registry.ts'

function setting(directories: readonly string[], given: Partial<InstallOptions> = {}) {
  const log = createRecordingLog()
  const options: InstallOptions = {
    registry: new PluginRegistry(),
    directories,
    configured: new Map(),
    services: () => createPluginServices(log),
    setupTimeoutMs: 5000,
    required: new Set(),
    log,
    ...given,
  }
  return { ...options, log, reasons: () => log.lines.map(({ fields }) => fields.reason) }
}

function directoryOf(t: ExecutionContext, names: readonly string[]): string {
  return createPluginDirectory(t, Object.fromEntries(names.map((name) => [`${name}/index.ts`, pluginSource(name)])))
    .path
}

test('install: every folder of every directory is installed', async (t) => {
  const options = setting([directoryOf(t, ['b', 'a']), directoryOf(t, ['c'])])
  await installPlugins(options)
  t.deepEqual(options.registry.names, ['a', 'b', 'c'])
  t.deepEqual(options.log.lines, [])
})

test('install: a name found twice is used from the first directory, and both places are named', async (t) => {
  const [first, second] = [directoryOf(t, ['a']), directoryOf(t, ['a', 'b'])]
  const options = setting([first, second])
  await installPlugins(options)
  t.is(options.registry.get('a')?.folder, path.join(first, 'a'))
  t.like(options.log.lines, {
    0: {
      event: 'plugin.duplicate',
      fields: { plugin: 'a', used: path.join(first, 'a'), ignored: path.join(second, 'a') },
    },
  })
})

test('install: a broken plugin is reported by name, and the others are installed', async (t) => {
  const { path: directory } = createPluginDirectory(t, {
    'bad/index.ts': 'export default {{{',
    'good/index.ts': pluginSource('good'),
  })
  const options = setting([directory])
  await installPlugins(options)
  t.deepEqual(options.registry.names, ['good'])
  t.like(options.log.lines[0], { level: 'error', event: 'plugin.broken', fields: { plugin: 'bad' } })
  t.regex(String(options.log.lines[0]?.fields.reason), /`bad` cannot be imported/)
})

test('install: a broken plugin that the operator’s pipeline needs stops the start', async (t) => {
  const { path: directory } = createPluginDirectory(t, { 'bad/index.ts': pluginSource('bad', { setup: 'throw 1' }) })
  const error = await t.throwsAsync(installPlugins(setting([directory], { required: new Set(['bad']) })), {
    instanceOf: PluginError,
  })
  t.regex(error.message, /`bad` could not be set up/)
})

test('install: a plugin that the operator’s pipeline names must be installed', async (t) => {
  const installing = installPlugins(setting([directoryOf(t, ['shout'])], { required: new Set(['shuot']) }))
  const error = await t.throwsAsync(installing, { instanceOf: PluginError })
  t.regex(error.message, /pipeline names `shuot`.*Did you mean `shout`\?/)
  t.true(error.isConfiguration)
})

test('install: options for a plugin that does not exist are an error', async (t) => {
  const installing = installPlugins(setting([directoryOf(t, ['shout'])], { configured: new Map([['shuot', {}]]) }))
  const error = await t.throwsAsync(installing, { instanceOf: PluginError })
  t.regex(error.message, /options for `shuot`.*no such plugin.*Did you mean `shout`\?/)
})

test('install: options for a broken plugin are no error', async (t) => {
  const { path: directory } = createPluginDirectory(t, { 'bad/index.ts': 'throw new Error("at once")' })
  const options = setting([directory], { configured: new Map([['bad', { a: 1 }]]) })
  await installPlugins(options)
  t.deepEqual(options.log.events(), ['plugin.broken'])
})

test('install: bad options stop the start even of a plugin that no pipeline needs', async (t) => {
  const installing = installPlugins(
    setting([directoryOf(t, ['shout'])], { configured: new Map([['shout', { loud: 1 }]]) }),
  )
  const error = await t.throwsAsync(installing, { instanceOf: PluginError })
  t.regex(error.message, /`shout`: unknown option `loud`/)
})

test('install: a directory that does not exist is named', async (t) => {
  const error = await t.throwsAsync(installPlugins(setting(['/no/such/place'])), { instanceOf: PluginError })
  t.regex(error.message, /`\/no\/such\/place` does not exist/)
})

test('install: a failed start closes the plugins set up before, the last one first', async (t) => {
  const closing = (name: string) =>
    pluginSource(name, { needs: ['log'], close: `services.log.info({ closed: '${name}' }, 'plugin.closed')` })
  const { path: directory } = createPluginDirectory(t, {
    'a/index.ts': closing('a'),
    'b/index.ts': closing('b'),
    'c/index.ts': pluginSource('c', { setup: 'throw new Error("half-way")' }),
  })
  const options = setting([directory], { required: new Set(['c']) })
  await t.throwsAsync(installPlugins(options), { message: /half-way/ })
  t.deepEqual(
    options.log.lines.flatMap(({ fields }) => fields.closed ?? []),
    ['b', 'a'],
  )
})

test('install: the required plugins are those of the operator’s own pipeline and its locks', (t) => {
  t.deepEqual([...requiredPlugins({ default: 'a?x=1,b', locked: ['c', 'a'] })].sort(), ['a', 'b', 'c'])
  t.deepEqual([...requiredPlugins({ default: 'none', locked: [] })], [])
})

test('install: an invalid operator’s pipeline is a configuration error', (t) => {
  const error = t.throws(() => requiredPlugins({ default: 'a,,b', locked: [] }), { instanceOf: PluginError })
  t.regex(error.message, /`pipeline\.default`.*position 2/)
  t.true(error.isConfiguration)
})

test('reload: a good version replaces the old one, a bad one is reported and ignored', async (t) => {
  const directory = createPluginDirectory(t, { 'a/index.ts': pluginSource('a') })
  const options = setting([directory.path])
  await installPlugins(options)
  const reloader = new PluginReloader(options)
  const folder = path.join(directory.path, 'a')
  const first = options.registry.get('a')
  directory.put('a/index.ts', 'export default')
  await reloader.reload(folder)
  t.is(options.registry.get('a'), first)
  t.like(options.log.lines[0], { event: 'plugin.broken', fields: { plugin: 'a', kept: true } })
  directory.put('a/index.ts', pluginSource('a', { onError: 'refuse' }))
  await reloader.reload(folder)
  t.is(options.registry.get('a')?.definition.onError, 'refuse')
  directory.remove('a')
  await reloader.reload(folder)
  t.deepEqual(options.registry.names, [])
  t.deepEqual(options.log.events(), ['plugin.broken', 'plugin.reloaded', 'plugin.removed'])
})

test('reload: a plugin that the operator’s pipeline needs is kept when its folder is removed', async (t) => {
  const directory = createPluginDirectory(t, { 'a/index.ts': pluginSource('a') })
  const options = setting([directory.path], { required: new Set(['a']) })
  await installPlugins(options)
  directory.remove('a')
  await new PluginReloader(options).reload(path.join(directory.path, 'a'))
  t.deepEqual(options.registry.names, ['a'])
  t.deepEqual(options.log.events(), ['plugin.kept'])
})

test('reload: a folder whose name is taken by an earlier directory changes nothing', async (t) => {
  const [first, second] = [directoryOf(t, ['a']), directoryOf(t, ['a'])]
  const options = setting([first, second])
  await installPlugins(options)
  const { generation } = options.registry
  await new PluginReloader(options).reload(path.join(second, 'a'))
  t.is(options.registry.generation, generation)
})

test('reload: a version that is set up slowly does not replace its successor', async (t) => {
  const setup = `services.log.info({}, 'a.started'); await new Promise((resolve) => setTimeout(resolve, 100))`
  const slow = pluginSource('a', { onError: 'refuse', needs: ['log'], setup })
  const directory = createPluginDirectory(t, { 'a/index.ts': slow })
  const options = setting([directory.path])
  const reloader = new PluginReloader(options)
  const folder = path.join(directory.path, 'a')
  const slowly = reloader.reload(folder)
  await eventually(() => options.log.events().includes('a.started'), 'the slow version is being set up')
  directory.put('a/index.ts', pluginSource('a'))
  await reloader.reload(folder)
  await slowly
  t.is(options.registry.get('a')?.definition.onError, 'bypass')
})

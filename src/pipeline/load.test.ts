import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../test/support/eventually.ts'
import { createPluginDirectory, type PluginParts, pluginSource } from '../../test/support/plugin-folders.ts'
import { createPluginServices } from '../../test/support/plugin-services.ts'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import type { PluginContext, PluginServices } from '../plugin/contract.ts'
import { findPluginFolders, loadPlugin, PluginError, pluginFolderAt } from './load.ts'
import type { LoadedPlugin } from './registry.ts'

function serve(log = createRecordingLog()) {
  return { log, services: (): PluginServices => createPluginServices(log) }
}

/** Loads a folder named `sample`. */
function load(
  t: ExecutionContext,
  files: Record<string, string>,
  { configured = {}, setupTimeoutMs = 5000, ...rest }: Partial<Parameters<typeof loadPlugin>[1]> = {},
): Promise<LoadedPlugin> {
  const { path: directory } = createPluginDirectory(t, files)
  const found = pluginFolderAt(path.join(directory, 'sample'))
  if (found === undefined) return Promise.reject(new Error('no entry file'))
  return loadPlugin(found, { version: 0, configured, setupTimeoutMs, services: serve().services, ...rest })
}

/** Runs a plugin's middleware with a context that only has `set`, and returns the headers it has set. */
async function run(plugin: LoadedPlugin, effective: unknown = {}): Promise<Record<string, string>> {
  const headers = new Map<string, string>()
  const ctx = { state: {}, set: (name: string, value: string) => headers.set(name, value) }
  await plugin.middlewareFor(effective)(ctx as unknown as PluginContext, async () => {})
  return Object.fromEntries(headers)
}

const sample = (parts: PluginParts = {}) => ({ 'sample/index.ts': pluginSource('sample', parts) })

for (const entry of ['index.ts', 'index.js', 'index.mjs']) {
  test(`load: a folder with ${entry} is a plugin, without any registration`, async (t) => {
    const plugin = await load(t, { [`sample/${entry}`]: pluginSource('sample', { run: `ctx.set('x', '1')` }) })
    t.is(plugin.name, 'sample')
    t.deepEqual(await run(plugin), { x: '1' })
  })
}

test('load: index.ts may contain types, and takes precedence over index.js', async (t) => {
  const plugin = await load(t, {
    'sample/index.ts': pluginSource('sample', { head: 'const word: string = "typed"', run: `ctx.set('x', word)` }),
    'sample/index.js': 'throw new Error("not this one")',
  })
  t.deepEqual(await run(plugin), { x: 'typed' })
})

test('load: a plugin may consist of several files in several folders', async (t) => {
  const plugin = await load(t, {
    'sample/index.ts': pluginSource('sample', {
      head: `import { word } from './parts/word.ts'`,
      run: `ctx.set('x', word)`,
    }),
    'sample/parts/word.ts': `import { end } from '../end.ts'\nexport const word: string = 'two' + end`,
    'sample/end.ts': `export const end = '!'`,
  })
  t.deepEqual(await run(plugin), { x: 'two!' })
})

test('load: a plugin may contain packages of its own', async (t) => {
  const plugin = await load(t, {
    'sample/index.mjs': pluginSource('sample', { head: `import { word } from 'own-words'`, run: `ctx.set('x', word)` }),
    'sample/node_modules/own-words/package.json': '{"name":"own-words","type":"module","exports":"./words.js"}',
    'sample/node_modules/own-words/words.js': `import { end } from './end.js'\nexport const word = 'packed' + end`,
    'sample/node_modules/own-words/end.js': `export const end = '?'`,
  })
  t.deepEqual(await run(plugin), { x: 'packed?' })
})

test('load: a newer version is new in all its files, and the older one is unchanged', async (t) => {
  const directory = createPluginDirectory(t, {
    'sample/index.ts': pluginSource('sample', { head: `import { word } from './word.ts'`, run: `ctx.set('x', word)` }),
    'sample/word.ts': `export const word = 'old'`,
  })
  const found = pluginFolderAt(path.join(directory.path, 'sample'))
  if (found === undefined) return t.fail()
  const options = { configured: {}, setupTimeoutMs: 5000, services: serve().services }
  const old = await loadPlugin(found, { ...options, version: 1 })
  directory.put('sample/word.ts', `export const word = 'new'`)
  const next = await loadPlugin(found, { ...options, version: 2 })
  t.deepEqual(await run(next), { x: 'new' })
  t.deepEqual(await run(old), { x: 'old' })
})

const faults: Record<string, { files: Record<string, string>; says: RegExp[] }> = {
  'a folder that is no JavaScript': {
    files: { 'sample/index.ts': 'export default {{{' },
    says: [/cannot be imported/],
  },
  'an import that throws': {
    files: { 'sample/index.js': `throw new Error('at once')` },
    says: [/imported: \/.*\/sample\/index\.js:1:7: at once/],
  },
  'an import that does not exist': {
    files: { 'sample/index.js': `import './missing.js'` },
    says: [/cannot be imported/, /missing\.js/],
  },
  'an import of a name that has moved': {
    files: { 'sample/index.js': `import { abortable } from 'turnpike/plugin'` },
    says: [
      /sample\/index\.js:1:10: `turnpike\/plugin` has no value `abortable`\. Import `abortable` from `turnpike\/plugin\/thread`\.$/,
    ],
  },
  'an import of a name that has been replaced': {
    files: { 'sample/index.ts': `import { streamOfMessage } from 'turnpike/plugin'` },
    says: [/has no value `streamOfMessage`\. Import `messageReply` from `turnpike\/plugin`\.$/],
  },
  'an import of a name that no entry point has': {
    files: { 'sample/index.ts': `import { definePlugins } from 'turnpike/plugin'` },
    says: [/has no value `definePlugins`\. Import types with `import type`\. Did you mean `definePlugin`\?$/],
  },
  'no default export': {
    files: { 'sample/index.js': 'export const a = 1' },
    says: [/no default export/, /definePlugin/],
  },
  'another name than its folder': {
    files: { 'sample/index.ts': pluginSource('other') },
    says: [/its name is `other`/, /name of its folder/],
  },
  'another version of the API': {
    files: edited(`summary: 'A plugin of a test.',`, `apiVersion: 7, views: [],`),
    says: [/plugin `sample` is written for version 7 of the plugin API/, /this gateway supports version 1\./],
  },
  'a version of the API that is no number': {
    files: edited(`summary: 'A plugin of a test.',`, `summary: 's', apiVersion: '1',`),
    says: [/breaks the contract/, /apiVersion/],
  },
  'no summary': { files: edited(`summary: 'A plugin of a test.',`, ''), says: [/breaks the contract/, /summary/] },
  'an unknown need': { files: sample({ needs: ['log', 'lgo'] }), says: [/needs/, /log/, /stores/] },
  'options that are no schema': {
    files: edited('z.strictObject({  })', '{ word: 1 }'),
    says: [/breaks the contract/, /options/, /zod schema/],
  },
  'no onError': { files: edited(`onError: 'bypass',`, ''), says: [/onError/, /bypass/, /refuse/] },
  'an unknown member': { files: edited('perRequest:', 'extra: 1,\nperRequest:'), says: [/extra/] },
  'a perRequest that is no option': {
    files: sample({ options: 'word: z.string().default("a")', perRequest: ['wrod'] }),
    says: [/perRequest names `wrod`/, /Did you mean `word`\?/],
  },
  'a setup that throws': {
    files: sample({ setup: `throw new Error('no disk')` }),
    says: [/could not be set up: \/.*\/sample\/index\.ts:\d+:\d+: no disk/],
  },
  'a setup that returns no middleware': {
    files: sample({ setup: 'return {}' }),
    says: [/setup returned no middleware function/],
  },
}

function edited(before: string, after: string): Record<string, string> {
  return { 'sample/index.ts': pluginSource('sample').replace(before, after) }
}

for (const [what, { files, says }] of Object.entries(faults)) {
  test(`load: ${what} is a fault that names the plugin and the cause`, async (t) => {
    const error = await t.throwsAsync(load(t, files), { instanceOf: PluginError })
    t.regex(error.message, /`sample`/)
    for (const pattern of says) t.regex(error.message, pattern)
    t.false(error.isConfiguration)
  })
}

test('load: a setup that hangs times out, with the plugin’s name', async (t) => {
  const hanging = load(t, sample({ setup: 'await new Promise(() => {})' }), { setupTimeoutMs: 20 })
  const error = await t.throwsAsync(hanging, { instanceOf: PluginError })
  t.regex(error.message, /`sample` could not be set up: .*20 ms/)
})

test('load: a setup that finishes after its time-out is closed', async (t) => {
  const { log, services } = serve()
  const files = sample({
    needs: ['log'],
    setup: 'await new Promise((resolve) => setTimeout(resolve, 40))',
    close: `services.log.info({}, 'sample.closed')`,
  })
  await t.throwsAsync(load(t, files, { setupTimeoutMs: 10, services }), { instanceOf: PluginError })
  t.deepEqual(log.events(), [])
  await eventually(() => log.lines.length > 0, 'the late plugin is closed')
  t.deepEqual(log.events(), ['sample.closed'])
})

test('load: exactly the needed services are injected', async (t) => {
  for (const needs of [['log'], ['log', 'stores'], ['log', 'clock', 'stores']]) {
    const { log, services } = serve()
    await load(t, sample({ needs, setup: `services.log.info({ names: Object.keys(services) }, 'sample.served')` }), {
      services,
    })
    t.deepEqual(log.lines[0]?.fields.names, needs)
  }
})

test('load: the configuration’s options are parsed before setup sees them', async (t) => {
  const { log, services } = serve()
  const parts = {
    options: 'count: z.coerce.number().default(1), word: z.string().default("a")',
    needs: ['log'],
    setup: `services.log.info(options, 'sample.options')`,
  }
  await load(t, sample(parts), { services, configured: { count: '7' } })
  t.deepEqual(log.lines[0]?.fields, { count: 7, word: 'a' })
})

test('load: an unknown option in the configuration is named with the nearest one', async (t) => {
  const parts = { options: 'word: z.string().default("a")' }
  const error = await t.throwsAsync(load(t, sample(parts), { configured: { wrod: 'b' } }), { instanceOf: PluginError })
  t.regex(error.message, /`sample`: unknown option `wrod`\. Did you mean `word`\?/)
  t.true(error.isConfiguration)
})

test('load: an invalid value in the configuration is reported with the expected one', async (t) => {
  const parts = { options: 'count: z.int().max(9).default(1)' }
  const error = await t.throwsAsync(load(t, sample(parts), { configured: { count: 12 } }), { instanceOf: PluginError })
  t.regex(error.message, /`sample`: .*count.*9/)
  t.true(error.isConfiguration)
})

test('load: folders are those with an entry file and the name of a plugin', (t) => {
  const { path: directory } = createPluginDirectory(t, {
    'a-plugin/index.ts': '',
    'b/index.mjs': '',
    'no-entry/main.ts': '',
    'Upper/index.ts': '',
    '.hidden/index.ts': '',
    'index.ts': '',
    'entry-is-a-folder/index.ts/x.ts': '',
  })
  t.deepEqual(
    findPluginFolders(directory).map(({ name }) => name),
    ['a-plugin', 'b'],
  )
})

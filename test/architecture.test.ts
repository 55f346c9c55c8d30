import { cpSync, existsSync, globSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import manifest from '../package.json' with { type: 'json' }
import { ownFiles } from '../scripts/own-files.ts'
import { installPlugins } from '../src/pipeline/install.ts'
import { PluginRegistry } from '../src/pipeline/registry.ts'
import { filesOfDrill, LEFT_FILES, LEFT_TESTS } from './cluster/exemptions.ts'
import { createPluginDirectory } from './support/plugin-folders.ts'
import { createPluginServices } from './support/plugin-services.ts'
import { createRecordingLog } from './support/recording-log.ts'
import { findCycle, importsOf, readSources, type SourceImport, TEST_FILE } from './support/source-imports.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
const LONGEST_FILE_LINES = 300
/** Names of `turnpike/plugin`; others belong into an entry point by subject. */
const MOST_NAMES = 20

/** Files that hold source code as text. */
const TEXTS = ['src/cli/plugin-template.ts']

const files = [...readSources(ROOT, 'src'), ...readSources(ROOT, 'plugins')]
const imports = files.filter(({ file }) => !TEXTS.includes(file)).flatMap(importsOf)

/** Imports that a layer may have besides itself and `node:`. */
interface Rule {
  layers: readonly string[]
  /** Packages by name or scope; `any` but the gateway's own plugin API. */
  packages: readonly string[] | 'any'
}

const CORE_ONLY: Rule = { layers: ['core'], packages: 'any' }

/**
 * The table of the design, section 2. Allowances beyond it: `config` bounds a pipeline string as the pipeline's parser
 * does and is made of the sections of the kinds of providers, providers may speak a client's dialect, and the entry points `plugin.ts` and `plugin/` show core to plugins and their contract to pipeline and http.
 */
const RULES: Readonly<Record<string, Rule>> = {
  core: { layers: [], packages: ['zod'] },
  stores: CORE_ONLY,
  spend: CORE_ONLY,
  providers: { layers: ['core', 'dialects'], packages: 'any' },
  dialects: CORE_ONLY,
  logging: CORE_ONLY,
  'plugin.ts': { layers: ['core', 'plugin'], packages: ['zod'] },
  plugin: { layers: ['core', 'dialects'], packages: ['zod', 'koa'] },
  pipeline: { layers: ['core', 'plugin'], packages: 'any' },
  accounts: CORE_ONLY,
  alerts: CORE_ONLY,
  commerce: CORE_ONLY,
  journal: CORE_ONLY,
  http: {
    layers: ['core', 'providers', 'dialects', 'pipeline', 'plugin', 'accounts', 'commerce', 'journal'],
    packages: ['koa', '@koa', '@types', 'lru-cache', 'ws', 'zod'],
  },
  config: { layers: ['core', 'pipeline', 'providers'], packages: 'any' },
  cli: {
    layers: [
      'app',
      'alerts',
      'config',
      'core',
      'dialects',
      'commerce',
      'journal',
      'accounts',
      'logging',
      'pipeline',
      'providers',
      'spend',
      'stores',
      'main.ts',
      'plugin',
    ],
    packages: 'any',
  },
  'main.ts': { layers: ['app', 'config', 'core', 'logging'], packages: [] },
}

/** The composition root, the only place that joins layers. */
const ROOT_LAYER = 'app'

/** `core`, `http`, …, or the name of a file that lies in `src` itself. */
function layerOf(file: string): string {
  return file.split('/')[1] ?? ''
}

/** Returns the fault of an import of a file in `src`, if it has one. */
function faultOf({ from, to, isRelative }: SourceImport): string | undefined {
  const layer = layerOf(from)
  if (layer === ROOT_LAYER || to.startsWith('node:')) return undefined
  const rule = RULES[layer]
  if (rule === undefined) return `${from}: no rule for the layer ${layer}; add one here and in the design`
  const isAllowed = isRelative ? mayImportFile(layer, to, rule) : mayImportPackage(to, rule)
  return isAllowed ? undefined : `${from} imports ${to}`
}

function mayImportFile(layer: string, to: string, { layers }: Rule): boolean {
  return to.startsWith('src/') && !TEST_FILE.test(to) && (layerOf(to) === layer || layers.includes(layerOf(to)))
}

function mayImportPackage(name: string, { packages }: Rule): boolean {
  if (name.startsWith('turnpike')) return false
  return packages === 'any' || packages.includes(name.split('/')[0] ?? '')
}

test('architecture: every layer imports only what the design allows', (t) => {
  const own = imports.filter(({ from }) => from.startsWith('src/'))
  t.deepEqual(
    own.flatMap((found) => faultOf(found) ?? []),
    [],
  )
})

const ENTRY_POINTS = Object.keys(manifest.exports)
  .filter((name) => name.startsWith('./plugin'))
  .map((name) => name.replace('.', 'turnpike'))

test('architecture: a plugin imports entry points of the package, Node, packages and its own folder', (t) => {
  const examples = readSources(ROOT, 'examples/plugins').flatMap(importsOf)
  const folderOf = (file: string) => file.slice(0, file.indexOf('/', file.indexOf('plugins/') + 'plugins/'.length) + 1)
  const stray = [...imports.filter(({ from }) => from.startsWith('plugins/')), ...examples].filter(
    ({ from, to, isRelative }) =>
      isRelative ? !to.startsWith(folderOf(from)) : to.startsWith('turnpike') && !ENTRY_POINTS.includes(to),
  )
  t.true(examples.length > 3, `${examples.length} imports of examples`)
  t.deepEqual(stray, [])
})

test('architecture: entry points export values and types that a plugin uses, each once', async (t) => {
  const names = ENTRY_POINTS.map((entry) => ({ entry, names: namesOf(entry) }))
  const all = names.flatMap(({ names }) => names)
  t.deepEqual(
    all.filter((name, index) => all.indexOf(name) !== index),
    [],
  )
  const users = [...files.filter(({ file }) => file.startsWith('plugins/')), ...readSources(ROOT, 'examples/plugins')]
  const text = users.map((user) => user.text).join('\n')
  const guide = readFileSync(path.join(ROOT, 'docs/plugins.md'), 'utf8')
  t.deepEqual(
    all.filter((name) => !new RegExp(`\\b${name}\\b`).test(`${text}\n${guide}`)),
    [],
  )
})

test('architecture: the entry point that every plugin imports has about 20 names', (t) => {
  const names = namesOf('turnpike/plugin')
  t.true(names.length > 10 && names.length <= MOST_NAMES, names.join(' '))
})

/** The names that the source of an entry point exports. */
function namesOf(entry: string): string[] {
  const source = readFileSync(path.join(ROOT, `${entry.replace('turnpike', 'src')}.ts`), 'utf8')
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','))
  const declared = [...source.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)]
  const words = [...lists.map((name) => name.replace('type ', '').trim()), ...declared.map(([, name = '']) => name)]
  return words.filter((name) => name !== '')
}

test('architecture: the check has seen the imports there are', (t) => {
  t.true(files.length > 60, `${files.length} files`)
  t.true(imports.length > 200, `${imports.length} imports`)
  const counts = Map.groupBy(imports, ({ from }) => (from.startsWith('plugins/') ? 'plugins' : layerOf(from)))
  for (const layer of [
    'core',
    'pipeline',
    'providers',
    'journal',
    'http',
    'config',
    'cli',
    'plugins',
    'app',
    'plugin.ts',
  ]) {
    t.true((counts.get(layer)?.length ?? 0) >= 3, layer)
  }
  const withImport = files.filter(({ text }) => /^import\b/m.test(text)).map(({ file }) => file)
  const seen = new Set([...imports.map(({ from }) => from), ...TEXTS])
  t.deepEqual(
    withImport.filter((file) => !seen.has(file)),
    [],
  )
  t.true(imports.some(({ isTypeOnly }) => isTypeOnly) && imports.some(({ isTypeOnly }) => !isTypeOnly))
})

test('architecture: every relative import names a file that is there', (t) => {
  const missing = imports.filter(({ to, isRelative }) => isRelative && !existsSync(path.join(ROOT, to)))
  t.deepEqual(missing, [])
})

test('architecture: only the loaders of plugins and providers, and the entry points for plugins, import what is named at run time', (t) => {
  const dynamic = files.filter(({ text }) => /\bimport\((?!\s*['"])/.test(text)).map(({ file }) => file)
  t.deepEqual(dynamic, ['src/pipeline/entry-points.ts', 'src/pipeline/hooks.ts', 'src/providers/kinds.ts'])
})

test('architecture: no files import each other in a circle, types aside', (t) => {
  t.is(findCycle(imports.filter(({ isRelative, isTypeOnly }) => isRelative && !isTypeOnly)), undefined)
})

test('architecture: a circle would be found', (t) => {
  const edge = (from: string, to: string) => ({ from, to, isRelative: true, isTypeOnly: false })
  t.deepEqual(findCycle([edge('a', 'b'), edge('b', 'c'), edge('x', 'a'), edge('c', 'b')]), ['b', 'c', 'b'])
})

test(`architecture: no source file is longer than ${LONGEST_FILE_LINES} lines`, (t) => {
  const long = files.filter(({ text }) => text.split('\n').length > LONGEST_FILE_LINES + 1).map(({ file }) => file)
  t.deepEqual(long, [])
})

test('architecture: the environment is read by configuration, start and command line only', (t) => {
  const readers = files.filter(({ text }) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(text))
  const allowed = /^src\/(config\/|cli\/|main\.ts$)/
  t.true(readers.length > 0)
  t.deepEqual(
    readers.map(({ file }) => file).filter((file) => !allowed.test(file)),
    [],
  )
})

const PLUGINS = readdirSync(path.join(ROOT, 'plugins')).sort()

for (const name of PLUGINS) {
  test(`architecture: ${name} loads without the other plugins`, async (t) => {
    const { path: copy } = createPluginDirectory(t)
    cpSync(path.join(ROOT, 'plugins', name), path.join(copy, 'plugins', name), { recursive: true })
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
    const log = createRecordingLog()
    const registry = new PluginRegistry()
    await installPlugins({
      registry,
      directories: [path.join(copy, 'plugins')],
      configured: new Map(),
      services: () => createPluginServices(log),
      setupTimeoutMs: 5000,
      required: new Set(),
      log,
    })
    t.deepEqual(registry.names, [name])
    t.deepEqual(
      log.lines.filter(({ level }) => level === 'error'),
      [],
    )
    await registry.close()
  })
}

test('architecture: a test looks into the database of its gateway in the way that clusters have, too', (t) => {
  const tests = filesOfDrill()
  t.true(tests.length > 100)
  const opening = tests.filter((file) => /'node:sqlite'|\/sqlite\.ts'/.test(readFileSync(file, 'utf8')))
  t.deepEqual(opening, [], 'expected `queryGateway`, or a reason in `test/cluster/exemptions.ts`')
})

test('architecture: what the drill of clusters leaves out is there', (t) => {
  const files = Object.values(LEFT_FILES).flat()
  t.deepEqual(
    files.filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0),
    [],
  )
  const titles = Object.values(LEFT_TESTS).flat()
  const texts = ownFiles(['test/**/*.test.ts'], ROOT).map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
  // A pattern may stand for a part that the test composes.
  const isThere = (title: string) =>
    texts.some((text) =>
      title
        .split('*')
        .map((part) => part.trim())
        .every((part) => text.includes(part)),
    )
  t.deepEqual(
    titles.filter((title) => !isThere(title)),
    [],
  )
})

test('architecture: signals are listened to in one place, which knows that they may be aborted already', (t) => {
  const listening = files.filter(({ text }) => /(?:addEventListener|\bon(?:ce)?)\(\s*'abort'|\.onabort\b/.test(text))
  t.deepEqual(
    listening.map(({ file }) => file),
    ['src/core/abortable.ts'],
  )
})

test('architecture: responses are watched in one place, which knows that they may have closed already', (t) => {
  const watching = files.filter(
    ({ file, text }) => file.startsWith('src/http/') && /\b(?:res|response)\.on(?:ce)?\(\s*'close'/.test(text),
  )
  t.deepEqual(
    watching.map(({ file }) => file),
    ['src/http/client-disconnect.ts'],
  )
})

test('architecture: connections are reset in one place, which knows when libuv refuses that', (t) => {
  const resetting = [...files, ...readSources(ROOT, 'test')].filter(({ text }) => text.includes('.resetAndDestroy('))
  t.deepEqual(
    resetting.map(({ file }) => file),
    ['test/support/reset-socket.ts'],
  )
})

test('architecture: sources of bytes are made in one way, but for the connection itself', (t) => {
  const made = files.filter(
    ({ text }) => /implements[^{]*\bByteSource\b(?!Sink)/.test(text) || /: ByteSource = \{/.test(text),
  )
  t.deepEqual(made.map(({ file }) => file).sort(), ['src/core/reply/flow.ts', 'src/providers/transport.ts'])
})

test('architecture: bounds of prices are asked in one place, with the terms of the request', (t) => {
  const asking = files.filter(({ text }) => /\.rates\(/.test(text)).map(({ file }) => file)
  t.deepEqual(asking.sort(), ['src/core/money/prices.ts', 'src/spend/prices/free-demo.ts'])
})

test('architecture: dollars and nano-dollars are converted in one place', (t) => {
  const converting = files.filter(({ text }) => /usd\w* [*/] (?:1e9|1_000_000_000|NANO)|\bNANO(?:_USD)? =/i.test(text))
  t.deepEqual(
    converting.map(({ file }) => file),
    ['src/core/money/usd.ts'],
  )
})

test('architecture: jobs that take time run at intervals in one way; other timers do synchronous work', (t) => {
  const timed = files.filter(({ text }) => /\bsetInterval\(/.test(text)).map(({ file }) => file)
  t.deepEqual(timed.sort(), [
    'plugins/exact-cache/lease.ts',
    'src/core/system/rest.ts',
    'src/http/dashboard/live-pages.ts',
    'src/http/dashboard/live-route.ts',
    'src/http/server.ts',
    'src/http/sockets/connection.ts',
    'src/providers/transport.ts',
    'src/stores/sql/sqlite/store.ts',
  ])
})

test('dashboard: figures and moments are formatted by format.ts alone', (t) => {
  const formatted = /\.to(Fixed|Precision|Locale\w*)\(|\bIntl\.|'–'|\.toISOString\(|\bnew Date\(/
  const folder = path.join(ROOT, 'dashboard/src')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  const found = names.filter((name) => formatted.test(readFileSync(path.join(folder, name), 'utf8')))
  t.deepEqual(found, ['format.ts'])
})

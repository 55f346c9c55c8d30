import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { rolldown } from 'rolldown'
import { escapeToAscii } from '../../scripts/bundle/ascii.ts'
import { bundlePathOf, keepPlaces, namedPrograms } from '../../scripts/bundle/places.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, send } from '../support/http-client.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

const run = promisify(execFile)
const ROOT = path.resolve(import.meta.dirname, '../..')

/** A checkout in small, with a bundle that was just made of it. */
async function bundledCheckout(t: ExecutionContext) {
  const place = createPluginDirectory(t)
  const file = (name: string) => path.join(place.path, name)
  cpSync(path.join(ROOT, 'bin/bundle.mjs'), file('bin/bundle.mjs'))
  place.put('package-lock.json', '{}')
  place.put('src/main.ts', 'export const one = 1\n')
  place.put('src/core/main.test.ts', '// A test\n')
  place.put('plugins/own/index.ts', 'export default {}\n')
  place.put('dist/main.js', 'export const one = 1\n')
  const bundle: typeof import('../../bin/bundle.mjs') = await import(pathToFileURL(file('bin/bundle.mjs')).href)
  bundle.writeStamp()
  t.is(bundle.folderToRun(), 'dist')
  return { place, file, folderToRun: bundle.folderToRun }
}

const CHANGES: Readonly<Record<string, (file: (name: string) => string) => void>> = {
  'a changed source': (file) => appendFileSync(file('src/main.ts'), '\n'),
  'a removed source': (file) => rmSync(file('src/main.ts')),
  'a renamed source': (file) => renameSync(file('src/main.ts'), file('src/core/main.ts')),
  'a changed built-in plugin': (file) => appendFileSync(file('plugins/own/index.ts'), '\n'),
  'another lockfile': (file) => appendFileSync(file('package-lock.json'), '\n'),
  'no record': (file) => rmSync(file('dist/sources.json')),
}

for (const [what, change] of Object.entries(CHANGES))
  test(`bundle: with ${what} the sources run`, async (t) => {
    const { file, folderToRun } = await bundledCheckout(t)
    change(file)
    t.is(folderToRun(), 'src')
  })

test('bundle: tests, and plugins that came later, do not make it old; without sources it always runs', async (t) => {
  const { file, place, folderToRun } = await bundledCheckout(t)
  appendFileSync(file('src/core/main.test.ts'), '\n')
  place.put('plugins/later/index.ts', 'export default {}\n')
  t.is(folderToRun(), 'dist')
  appendFileSync(file('src/main.ts'), '\n')
  rmSync(file('src'), { recursive: true })
  t.is(folderToRun(), 'dist')
})

test('bundle: a plugin that is loaded as it is throws errors and reads requests of the classes that the bundle has', async (t) => {
  const place = createPluginDirectory(t)
  place.put(
    'refuse/index.ts',
    `import { definePlugin, GatewayError, RequestDocument, z } from 'turnpike/plugin'
     export default definePlugin({
       name: 'refuse', summary: 'Refuses.', options: z.strictObject({}), perRequest: [], needs: [], onError: 'refuse',
       setup: () => ({
         middleware: () => async (ctx) => {
           const isOurs = ctx.state.exchange.request instanceof RequestDocument
           throw new GatewayError('invalid_request', 'The class is ' + (isOurs ? 'the same.' : 'another.'))
         },
       }),
     })`,
  )
  const gateway = await startGateway({ SVC_PLUGINS_DIR: place.path })
  t.teardown(() => gateway.stop())
  const reply = await send(gateway.url, {
    body: ask('hi', { model: 'demo/echo' }),
    headers: { 'x-svc-pipe': 'refuse' },
  })
  t.is(reply.status, 400, reply.text)
  t.regex(reply.text, /The class is the same\./)
})

test('bundle: a stack trace names the line of the source', async (t) => {
  const place = createPluginDirectory(t)
  const url = (file: string) => JSON.stringify(pathToFileURL(path.join(ROOT, file)).href)
  place.put(
    'fail.mjs',
    `const { runCommandLine } = await import(${url('dist/cli/main.js')})
     await runCommandLine(['node', 'turnpike', 'start', '--help'])
     const { duration } = await import(${url('dist/plugin.js')})
     try { duration() } catch (error) { console.error(error.stack) }`,
  )
  const { stderr } = await run(process.execPath, [path.join(place.path, 'fail.mjs')])
  const [, line] = /src\/core\/units\.ts:(\d+):\d+/.exec(stderr) ?? []
  const source = readFileSync(path.join(ROOT, 'src/core/units.ts'), 'utf8').split('\n')
  t.true(source[Number(line) - 1]?.startsWith('export function duration('), stderr)
})

/** The files of the bundle that one imports statically, with itself. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const code = readFileSync(file, 'utf8')
  for (const [, name = ''] of code.matchAll(/^import .*?"(\.[^"]+)";$/gm))
    loadedWith(path.resolve(file, '..', name), found)
  return found
}

test('bundle: the thread of a database loads no gateway, and the gateway no queries', (t) => {
  const packagesOf = (entry: string) => {
    const code = [...loadedWith(path.join(ROOT, 'dist', entry))].map((file) => readFileSync(file, 'utf8')).join('\n')
    return ['kysely', 'koa', 'zod'].filter((name) => code.includes(`\n// node_modules/${name}/`))
  }
  t.deepEqual(packagesOf('stores/sql/sqlite/worker.js'), ['kysely'])
  t.deepEqual(packagesOf('main.js'), ['koa', 'zod'])
})

test('bundle: every program and module that a source names by its URL is in the bundle', (t) => {
  const named = namedPrograms(ROOT)
  t.true(named.length >= 8, `${named.length} named`)
  const places = named.map((file) => path.join('dist', `${bundlePathOf(file)}.js`))
  t.deepEqual(
    places.filter((place) => !existsSync(path.join(ROOT, place))),
    [],
  )
})

test('bundle: a package is bundled with what is imported below its name, so that a process has it once', async (t) => {
  const bundle = await rolldown({
    input: path.join(ROOT, 'src/stores/sql/migrations.ts'),
    cwd: ROOT,
    platform: 'node',
    plugins: [keepPlaces(ROOT)],
  })
  const { output } = await bundle.generate({ format: 'esm' })
  const imported = output.flatMap((file) => (file.type === 'chunk' ? file.imports : []))
  t.deepEqual(
    imported.filter((name) => !name.startsWith('node:') && !name.includes('chunk')),
    [],
  )
})

test('bundle: its code is ASCII, and texts and expressions of other characters mean what they meant', async (t) => {
  const place = createPluginDirectory(t)
  const values = "[`a’😀`, '\\u2019’', 'x😀y'.replace(/[😀’]/u, '–'), /^\\p{L}+’$/u.test('né’'), { 'é’': 1 }]"
  place.put('in/main.js', `export const values = ${values}\n`)
  const bundle = await rolldown({ input: path.join(place.path, 'in/main.js'), plugins: [escapeToAscii()] })
  await bundle.write({ file: path.join(place.path, 'out/main.mjs'), format: 'esm' })
  const file = path.join(place.path, 'out/main.mjs')
  t.regex(readFileSync(file, 'utf8'), /^[\0-\x7f]*$/)
  const { values: bundled } = await import(pathToFileURL(file).href)
  t.deepEqual(bundled, ['a’😀', '’’', 'x–y', true, { 'é’': 1 }])
})

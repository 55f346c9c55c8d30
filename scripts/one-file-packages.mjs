/**
 * Bundles packages of hundreds of modules into a file each, for tests from the sources: every file of tests and every
 * thread of a gateway loads them anew, in a sixth of the time. The bundles are rebuilt after another installation.
 *
 * `node_modules/.cache/turnpike/packages/<digest of what is installed>/<name>.mjs`, and `names.json` for the hook that
 * resolves to them (`test/support/one-file-packages.mjs`).
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = path.resolve(import.meta.dirname, '..')
const INSTALLED = path.join(ROOT, 'node_modules/.package-lock.json')
const CACHE = path.join(ROOT, 'node_modules/.cache/turnpike/packages')
const ENTRY = 'package:'
/** Imported by the gateway and by tests. */
const PACKAGES = [
  ...['@koa/cors', '@koa/router', 'keyv', 'koa', 'kysely', 'kysely/migration', 'pg', 'pino', 'yaml', 'zod'],
  'undici/lib/dispatcher/pool.js',
  'fast-check',
]
/** AVA's part in each thread: what the thread runs, and what tests import. */
const AVA = 'node_modules/ava/lib/worker/base.js'
const OF_AVA = { ava: 'node_modules/ava/entrypoints/main.js', [AVA]: AVA }
/** Modules of AVA whose state is that of one file: a thread evaluates them again for each file that it runs. */
const OF_ONE_FILE = /[\\/]ava[\\/]lib[\\/]worker[\\/](base|channel|options|file-run)\.js$/
/** Modules that tests import, and that expect a runner. */
const OF_TESTS = /[\\/]ava[\\/](entrypoints|lib[\\/]worker)[\\/]main\.js$/
/** Gives these modules the thread and its end, of a file's run if there is one (`test/support/kept-thread.mjs`). */
const FILE_RUN = path.join(ROOT, 'node_modules/ava/lib/worker/file-run.js')
const FILE_RUN_SOURCE = `
  import * as threads from 'node:worker_threads'
  import * as handlers from ${JSON.stringify(path.join(ROOT, 'node_modules/ava/lib/worker/completion-handlers.js'))}
  import { flags } from ${JSON.stringify(path.join(ROOT, 'node_modules/ava/lib/worker/state.js'))}
  flags.loadedMain = false
  const run = globalThis[Symbol.for('turnpike.file-run')]
  export const { parentPort, workerData } = run ?? threads
  export const { MessageChannel, threadId } = threads
  export const runCompletionHandlers = run?.end ?? handlers.runCompletionHandlers
`
/** Texts of AVA's modules that allow one file in a thread, and their replacements, which allow several. */
const ONE_FILE_TEXTS = [
  ['lib/chalk.js', "throw new Error('Chalk has already been configured')", 'return'],
  [
    'lib/worker/main.js',
    'flags.loadedMain = true;\n\nexport default refs.runnerChain',
    `const used = () => { flags.loadedMain = true; return refs.runnerChain }
     export default new Proxy(() => {}, {
       apply: (_target, _this, values) => used()(...values),
       get: (_target, name) => used()[name],
     })`,
  ],
]

/** Builds the bundles, unless they exist; returns the file that maps names to URLs. */
export async function bundlePackages() {
  // The bundles name their files by the place of this checkout.
  const digest = createHash('sha256').update(ROOT)
  for (const file of [INSTALLED, import.meta.filename]) digest.update(readFileSync(file))
  const folder = path.join(CACHE, digest.digest('hex').slice(0, 16))
  const names = path.join(folder, 'names.json')
  if (!existsSync(names)) await bundle(folder)
  return names
}

async function bundle(folder) {
  const { rolldown } = await import('rolldown')
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(`${folder}-`)
  const made = await rolldown({
    input: Object.fromEntries(PACKAGES.map((name) => [fileOf(name), `${ENTRY}${name}`])),
    cwd: ROOT,
    platform: 'node',
    plugins: [entries()],
    treeshake: false,
    logLevel: 'silent',
  })
  await made.write({
    dir: unfinished,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await made.close()
  await bundleAva(rolldown, unfinished)
  const files = [
    ...PACKAGES.map((name) => [name, `${fileOf(name)}.mjs`]),
    ...Object.keys(OF_AVA).map((name) => [name, `ava/${fileOf(name)}.js`]),
  ]
  const urls = files.map(([name, file]) => [name, pathToFileURL(path.join(folder, file)).href])
  writeFileSync(path.join(unfinished, 'names.json'), JSON.stringify(Object.fromEntries(urls)))
  chmodSync(unfinished, 0o755)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(folder)) throw error // otherwise a concurrent run has made them
  }
}

/**
 * Bundles AVA with the packages that it imports, in a place whose lines AVA leaves out of stacks as its own. One chunk has the
 * modules that are evaluated for each file of a thread.
 */
async function bundleAva(rolldown, folder) {
  const dir = path.join(folder, 'ava')
  const made = await rolldown({
    input: Object.fromEntries(Object.entries(OF_AVA).map(([name, file]) => [fileOf(name), path.join(ROOT, file)])),
    cwd: ROOT,
    platform: 'node',
    plugins: [severalFiles()],
    logLevel: 'silent',
  })
  await made.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [{ name: 'shared', test: (id) => ![OF_ONE_FILE, OF_TESTS].some((those) => those.test(id)) }],
    },
  })
  await made.close()
  writeFileSync(path.join(dir, 'package.json'), '{ "type": "module" }')
  chmodSync(dir, 0o755)
}

const fileOf = (name) => name.replaceAll(/\W+/g, '-')

/** Lets AVA's part of a thread run several files, one after another. */
function severalFiles() {
  return {
    name: 'several-files',
    resolveId(specifier, importer = '') {
      const isOfRun = ['node:worker_threads', './completion-handlers.js'].includes(specifier)
      return isOfRun && importer !== FILE_RUN && OF_ONE_FILE.test(importer) ? FILE_RUN : undefined
    },
    load: (id) => (id === FILE_RUN ? FILE_RUN_SOURCE : undefined),
    transform(code, id) {
      const texts = ONE_FILE_TEXTS.filter(([file]) => id.endsWith(path.normalize(`ava/${file}`)))
      return texts.reduce((text, [file, from, to]) => {
        if (!text.includes(from))
          throw new Error(`Expected \`${from}\` in AVA's ${file}: adapt ${import.meta.filename}`)
        return text.replace(from, () => to)
      }, code)
    },
  }
}

/** An entry of a package exports by name what Node gives of it, also where the package is CommonJS. */
function entries() {
  return {
    name: 'entries',
    resolveId: (id) => (id.startsWith(ENTRY) ? { id: path.join(ROOT, `${id}.mjs`) } : undefined),
    async load(id) {
      const [, name] = id.split(ENTRY)
      if (name === undefined) return undefined
      const from = JSON.stringify(name.replace(/\.mjs$/, ''))
      const exported = Object.keys(await import(JSON.parse(from)))
      if (!exported.includes('module.exports'))
        return `export * from ${from}${exported.includes('default') ? `; export { default } from ${from}` : ''}`
      const names = exported.filter((name) => !['default', 'module.exports'].includes(name))
      return `import whole from ${from}; export { whole as default, whole as 'module.exports' }; export const { ${names} } = whole`
    },
  }
}

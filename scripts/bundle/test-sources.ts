/**
 * DESIGN. The gateway's own modules, bundled for tests. Each test file loads them in a thread of its own: from the
 * sources that takes a quarter of a second of CPU, from the bundle a fifth of that.
 *
 *   a test ─ imports src/app/gateway.ts ─▶ load hook ─▶ a few re-exports ─▶ chunk `gateway`, which has all of its modules
 *
 * The load hook replaces the text of each source by re-exports from its chunk. The URL of the source stays the same, so every
 * import gets the same instance; `import.meta` is that of the source, so paths that a module derives from it are right.
 * Chunks group modules that are loaded together: the SQLite thread; the providers, which are imported while the gateway's
 * modules are still evaluated; the gateway; each plugin. Modules that are imported on demand stay separate chunks.
 *
 * The output is `node_modules/.cache/turnpike/sources/<digest of the sources' paths, sizes and times>/`. Its `names.json` is
 * read by the hook (`test/support/bundled-sources.mjs`).
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { ownFiles } from '../own-files.ts'
import { escapeToAscii } from './ascii.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const CACHE = path.join(ROOT, 'node_modules/.cache/turnpike/sources')
const SOURCES = ['src/**/*.ts', 'plugins/**/*.ts']
/** Chunks by priority; each includes the imports of its modules that no earlier chunk has. */
const CHUNKS = [
  ['sqlite', /\/src\/stores\/sql\/(engine\/faults|sqlite\/(file-place|group|open|protocol))\.ts$/],
  ['providers', /\/src\/providers\/[^/]+\/index\.ts$/],
  ['gateway', /\/src\/(app\/gateway|app\/start-failure|plugin|config\/load|logging\/log)\.ts$/],
] as const
/** Maximum number of bundles, the new one included: older ones serve other branches and concurrent runs. */
const MOST_BUNDLES = 4

/** Bundles the current sources, unless the bundle exists; returns the JSON file that maps each source's URL to its re-exports. */
export async function bundleSources(): Promise<string> {
  const sources = ownFiles(SOURCES, ROOT, ['**/*.test.ts'])
  const folder = path.join(
    CACHE,
    digestOf([...sources, 'package-lock.json', path.relative(ROOT, import.meta.filename), 'scripts/bundle/ascii.ts']),
  )
  if (!existsSync(folder)) await bundle(sources, folder)
  return path.join(folder, 'names.json')
}

function digestOf(files: readonly string[]): string {
  const digest = createHash('sha1').update(ROOT)
  for (const file of files) {
    const { size, mtimeMs } = statSync(path.join(ROOT, file))
    digest.update(`${file} ${size} ${mtimeMs}\n`)
  }
  return digest.digest('hex').slice(0, 16)
}

async function bundle(sources: readonly string[], folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  removeOldest()
  const unfinished = mkdtempSync(`${folder}-`)
  const made = await rolldown({
    input: Object.fromEntries(sources.map((file) => [file.replace(/\.ts$/, ''), path.join(ROOT, file)])),
    cwd: ROOT,
    platform: 'node',
    // The shipped bundle is escaped to ASCII too: tests run the same code.
    plugins: [keepSources(), escapeToAscii()],
    checks: { eval: false },
    logLevel: 'silent',
  })
  const { output } = await made.write({
    dir: unfinished,
    format: 'esm',
    sourcemap: 'hidden',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
    codeSplitting: {
      groups: [
        ...CHUNKS.map(([name, test], index) => ({ name, test, priority: CHUNKS.length - index })),
        { name: (id: string) => pluginOf(id), test: /\/plugins\/[^/]+\/index\.ts$/ },
      ],
    },
  })
  await made.close()
  const entries = output.filter((file) => file.type === 'chunk').filter(({ isEntry }) => isEntry)
  const reExports = entries.map(({ facadeModuleId, fileName, exports }) => {
    const from = JSON.stringify(urlOf(path.join(folder, fileName)))
    const more = exports.includes('default') ? `; export { default } from ${from}` : ''
    return [urlOf(facadeModuleId ?? ''), `export * from ${from}${more}`]
  })
  writeFileSync(path.join(unfinished, 'names.json'), JSON.stringify(Object.fromEntries(reExports)))
  chmodSync(unfinished, 0o755)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(folder)) throw error // otherwise a concurrent run has made it
  }
}

const urlOf = (file: string) => pathToFileURL(file).href
const pluginOf = (id: string) => `plugin-${path.basename(path.dirname(id))}`

function removeOldest(): void {
  const bundles = readdirSync(CACHE).map((name) => path.join(CACHE, name))
  const newestFirst = bundles.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  for (const old of newestFirst.slice(MOST_BUNDLES - 1)) rmSync(old, { recursive: true, force: true })
}

/** Keeps packages external, and gives each module the `import.meta` of its source. */
function keepSources(): Plugin {
  return {
    name: 'keep-sources',
    resolveId(specifier) {
      if (specifier.startsWith('turnpike/')) return path.join(ROOT, 'src', `${specifier.slice('turnpike/'.length)}.ts`)
      return specifier.startsWith('.') || path.isAbsolute(specifier) ? undefined : { id: specifier, external: true }
    },
    transform(code, id) {
      if (!code.includes('import.meta.')) return undefined
      const placed = code
        .replaceAll('import.meta.url', JSON.stringify(urlOf(id)))
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
        .replaceAll('import.meta.filename', JSON.stringify(id))
      return { code: placed, map: null }
    },
  }
}

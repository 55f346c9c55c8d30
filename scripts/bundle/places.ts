import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import type { Plugin } from 'rolldown'
import { ownFiles } from '../own-files.ts'

/** Packages that every start loads, with their imports: some six hundred files, of which a third is used. */
const INLINED = [
  ...['zod', 'kysely', 'koa', '@koa/router', '@koa/cors', 'yaml', 're2js', 'commander', 'lru-cache', 'keyv', 'pino'],
  'undici/lib/dispatcher/pool.js',
]
/** Matches a `require` for modules that are loaded late; without it the bundler reads the calls. */
const LATE_REQUIRE = 'const require = createRequire(import.meta.url)\n'
/** Placeholder for the path from a module's output file to the bundle's folder. */
const BUNDLE_MARK = '@bundle@'
/** Matches a source named by its URL, as threads and processes are started. */
const PROGRAM = /new URL\((['`])([^'`]+)\.ts\1, import\.meta\.url\)/g

/** Returns the path of a source in the bundle, without its extension. */
export function bundlePathOf(file: string): string {
  return file.replace(/^src\//, '').replace(/\.ts$/, '')
}

/** Returns the sources that others name by their URL, from the root: threads, processes and preloaded modules. */
export function namedPrograms(root: string): string[] {
  const sources = ownFiles(['src/**/*.ts', 'plugins/**/*.ts'], root, ['**/*.test.ts'])
  const named = sources.flatMap((source) => {
    const text = readFileSync(path.join(root, source), 'utf8')
    return [...text.matchAll(PROGRAM)].map(([, , name = '']) => path.join(path.dirname(source), `${name}.ts`))
  })
  return [...new Set(named)]
}

/**
 * Resolves `turnpike/plugin` and its subpaths to the gateway's own modules, keeps optional packages external, and gives
 * each module the URL of its own path in the bundle, in any output file.
 */
export function keepPlaces(root: string): Plugin {
  return {
    name: 'keep-places',
    resolveId(specifier, importer) {
      if (specifier.startsWith('turnpike/')) return path.join(root, specifier.replace('turnpike', 'src').concat('.ts'))
      return isInlined(specifier, importer) ? undefined : { id: specifier, external: true }
    },
    transform(code, id) {
      if (!code.includes('import.meta.') || id.includes('/node_modules/')) return undefined
      const url = `new URL("${BUNDLE_MARK}/${bundlePathOf(path.relative(root, id))}.js", import.meta.url)`
      const toPath = 'process.getBuiltinModule("node:url").fileURLToPath'
      const placed = code
        .replace(LATE_REQUIRE, '\n')
        .replaceAll(PROGRAM, 'new URL($1$2.js$1, import.meta.url)')
        .replaceAll('import.meta.url', `${url}.href`)
        .replaceAll('import.meta.dirname', `${toPath}(new URL(".", ${url})).slice(0, -1)`)
        .replaceAll('import.meta.filename', `${toPath}(${url})`)
      // Line numbers are unchanged, so the map is too.
      return { code: placed, map: null }
    },
    renderChunk(code, { fileName }) {
      const toBundle = path.posix.relative(path.posix.dirname(fileName), '.') || '.'
      return { code: code.replaceAll(BUNDLE_MARK, toBundle), map: null }
    },
  }
}

function isInlined(specifier: string, importer: string | undefined): boolean {
  if (specifier.startsWith('.') || path.isAbsolute(specifier)) return true
  if (isBuiltin(specifier)) return false
  const isNamed = INLINED.includes(packageOf(specifier)) || INLINED.includes(specifier)
  return isNamed || (importer?.includes('/node_modules/') ?? false)
}

/** Returns the package of a specifier: `kysely` of `kysely\/migration`, `@koa\/router` of itself. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

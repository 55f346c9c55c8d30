/**
 * Bundles the gateway's own modules, its built-in plugins and the packages that every start loads into `dist`, with
 * source maps, in a second: `npm ci` does it as its last step (`prepare`), and `npm pack` before it packs.
 *
 * `dist` has the shape of `src`, and the built-in plugins are in `dist/plugins`: relative paths of a module
 * (`../dashboard/dist`, `./worker.ts`) resolve there too.
 */
import { copyFileSync, globSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { writeStamp } from '../bin/bundle.mjs'
import { escapeToAscii } from './bundle/ascii.ts'
import { bundlePathOf, keepPlaces, namedPrograms } from './bundle/places.ts'
import { leaveOut } from './bundle/slim.ts'
import { createStartChunk } from './bundle/start-chunk.ts'
import { ownFiles } from './own-files.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
const BUNDLE = path.join(ROOT, 'dist')
/** Modules that the command imports, and those whose path is known only at run time. */
const ENTRIES = ['src/{main,cli/main}.ts', 'plugins/*/index.ts']
const DATA = ['plugins/**/*.bin']

const programs = [...namedPrograms(ROOT), 'src/cli/main.ts'].filter((file) => file !== 'src/main.ts')
const startChunk = createStartChunk(ROOT, {
  start: path.join(ROOT, 'src/main.ts'),
  others: programs.map((file) => path.join(ROOT, file)),
})

rmSync(BUNDLE, { recursive: true, force: true })
const bundle = await rolldown({
  input: Object.fromEntries(
    [...globSync(ENTRIES, { cwd: ROOT }), ...namedPrograms(ROOT)].map((file) => [
      bundlePathOf(file),
      path.join(ROOT, file),
    ]),
  ),
  cwd: ROOT,
  platform: 'node',
  plugins: [startChunk.plugin, leaveOut(), keepPlaces(ROOT), escapeToAscii()],
  // Otherwise a chunk would include the modules it shares with threads.
  preserveEntrySignatures: 'allow-extension',
  // A package uses `eval` to name a function; no outside text reaches it.
  checks: { eval: false },
  // A newcomer's first command makes the bundle: a warning there is ours to mend, and not theirs to read.
  onLog(level, { message }) {
    if (level === 'warn') throw new Error(message)
  },
})
await bundle.write({
  dir: BUNDLE,
  format: 'esm',
  sourcemap: true,
  // Stack traces need the places alone; with the texts the largest map has 4 MB instead of 1.
  sourcemapExcludeSources: true,
  codeSplitting: startChunk.codeSplitting,
  // Comments stay in memory like code.
  comments: { legal: true, annotation: false, jsdoc: false },
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
})
for (const file of ownFiles(DATA, ROOT)) {
  mkdirSync(path.dirname(path.join(BUNDLE, file)), { recursive: true })
  copyFileSync(path.join(ROOT, file), path.join(BUNDLE, file))
}
// The help of the whole command is read from this file, without importing every command and plugin.
const { writeBuiltInListing }: typeof import('../src/cli/main.ts') = await import(path.join(BUNDLE, 'cli/main.js'))
await writeBuiltInListing()
writeStamp()

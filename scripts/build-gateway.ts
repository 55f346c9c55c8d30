/**
 * Bundles the gateway's own modules, its built-in plugins and the packages that every start loads into `dist`, with
 * source maps, in a second: `npm ci` does it as its last step (`prepare`), and `npm pack` before it packs.
 *
 * `dist` has the shape of `src`, and the built-in plugins are in `dist/plugins`: what a module finds from its own place
 * (`../dashboard/dist`, `./worker.ts`) it finds from its place there.
 */
import { copyFileSync, globSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { writeStamp } from '../bin/bundle.mjs'
import { escapeToAscii } from './bundle/ascii.ts'
import { keepPlaces, namedPrograms, placeOf } from './bundle/places.ts'
import { leaveOut } from './bundle/slim.ts'
import { createStartChunk } from './bundle/start-chunk.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
const BUNDLE = path.join(ROOT, 'dist')
/** Modules that the command imports, and those whose path is only known when the gateway runs. */
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
    [...globSync(ENTRIES, { cwd: ROOT }), ...namedPrograms(ROOT)].map((file) => [placeOf(file), path.join(ROOT, file)]),
  ),
  cwd: ROOT,
  platform: 'node',
  plugins: [startChunk.plugin, leaveOut(), keepPlaces(ROOT), escapeToAscii()],
  // Else a chunk takes along what its modules import, also what threads import.
  preserveEntrySignatures: 'allow-extension',
  // A package writes `eval` to name a function; nothing from outside reaches it.
  checks: { eval: false },
})
await bundle.write({
  dir: BUNDLE,
  format: 'esm',
  sourcemap: true,
  codeSplitting: startChunk.codeSplitting,
  // Comments stay in memory as the code does; source maps lead to them.
  comments: { legal: true, annotation: false, jsdoc: false },
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
})
for (const file of globSync(DATA, { cwd: ROOT })) {
  mkdirSync(path.dirname(path.join(BUNDLE, file)), { recursive: true })
  copyFileSync(path.join(ROOT, file), path.join(BUNDLE, file))
}
// The help of the whole command is read, not made of every command and plugin.
const { writeBuiltInListing }: typeof import('../src/cli/main.ts') = await import(path.join(BUNDLE, 'cli/main.js'))
await writeBuiltInListing()
writeStamp()

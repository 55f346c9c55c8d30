/**
 * Loaded by Node first in each thread of tests, and in the threads that these start: files of `test` get the gateway's own
 * modules from the bundle of `scripts/bundle/test-sources.ts`. Tests beside the modules get the few that they import from
 * the sources. What is not in the bundle comes without types (`scripts/bundle/stripped-tests.ts`). JavaScript, and without
 * imports of ours, since every thread pays for it.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const ROOT = new URL('../../', import.meta.url).href
const TESTS = `${ROOT}test/`
const FILE = /\?(?:file|program)=\d+$/
const RUN = Symbol.for('turnpike.file-run')
const BUNDLES = /\/\.cache\/turnpike\/sources\//
const KEPT_PROGRAMS = new URL('kept-programs.mjs', import.meta.url).href
/** Replaces `node:worker_threads` for a program that shares its thread: it has its own port and data. */
const THREAD_OF_PROGRAM = `data:text/javascript,${encodeURIComponent(`
  export * from 'node:worker_threads'
  export const { parentPort, workerData } = globalThis[Symbol.for('turnpike.file-run')]
`)}`
const { TURNPIKE_TEST_SOURCES: names, TURNPIKE_TEST_STRIPPED: stripped } = process.env
/** @type {Record<string, string>} */
let reExports = {}
if (process.env.TURNPIKE_TEST_BUNDLED === 'yes') readNames()

function readNames() {
  reExports = !names ? {} : JSON.parse(readFileSync(names, 'utf8'))
}

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context
    if (specifier === 'node:worker_threads') {
      const [query] = /\?program=\d+$/.exec(parentURL) ?? []
      if (query !== undefined) return own(`${THREAD_OF_PROGRAM}%0A//${query}`)
      if (BUNDLES.test(parentURL) && globalThis[RUN]?.number !== undefined) return own(KEPT_PROGRAMS)
    }
    const resolved = next(specifier, context)
    // Modules of tests have state that is a file's, such as hooks of AVA: each file of a thread gets its own.
    const isOfFile = resolved.url.startsWith(TESTS) && resolved.url.endsWith('.ts')
    if (!isOfFile || parentURL.includes('/node_modules/')) return resolved
    return { ...resolved, url: `${resolved.url}${FILE.exec(parentURL)?.[0] ?? fileOfNow()}` }
  },
  load(place, context, next) {
    const url = place.replace(FILE, '')
    const query = place.slice(url.length)
    if (url.endsWith('.test.ts') && url.startsWith(TESTS)) {
      readNames()
      process.env.TURNPIKE_TEST_BUNDLED = 'yes' // for the threads of this one
    }
    const reExport = reExports[url.replace(/\?version=0$/, '')]
    const source = query.startsWith('?program')
      ? reExport?.replaceAll('.mjs"', `.mjs${query}"`)
      : (reExport ?? withoutTypes(url))
    return source === undefined ? next(place, context) : { format: 'module', source, shortCircuit: true }
  },
})

const own = (/** @type {string} */ url) => ({ url, format: 'module', shortCircuit: true })

/** Returns the query of the file that the thread runs, or nothing in a thread of one file. */
function fileOfNow() {
  const number = globalThis[RUN]?.number
  return number === undefined ? '' : `?file=${number}`
}

/**
 * Returns the text without types of a file of ours, as it was when the run began.
 * @param {string} url
 */
function withoutTypes(url) {
  if (!stripped || !url.startsWith(ROOT) || !url.endsWith('.ts')) return undefined
  const file = decodeURI(url.slice(ROOT.length))
  try {
    return readFileSync(`${stripped}/${file}.js`, 'utf8')
  } catch {
    return undefined
  }
}

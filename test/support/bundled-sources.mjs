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
const { TURNPIKE_TEST_SOURCES: names, TURNPIKE_TEST_STRIPPED: stripped } = process.env
/** @type {Record<string, string>} */
let reExports = {}
if (process.env.TURNPIKE_TEST_BUNDLED === 'yes') readNames()

function readNames() {
  reExports = !names ? {} : JSON.parse(readFileSync(names, 'utf8'))
}

registerHooks({
  load(url, context, next) {
    if (url.endsWith('.test.ts') && url.startsWith(TESTS)) {
      readNames()
      process.env.TURNPIKE_TEST_BUNDLED = 'yes' // for the threads of this one
    }
    const source = reExports[url.replace(/\?version=0$/, '')] ?? withoutTypes(url)
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})

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

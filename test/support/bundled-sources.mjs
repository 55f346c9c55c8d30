/**
 * Loaded by Node first in each thread of tests, and in the threads that these start: files of `test` get the gateway's own
 * modules from the bundle of `scripts/bundle/test-sources.ts`. Tests beside the modules get the few that they import from
 * the sources. JavaScript, and without imports of ours, since every thread pays for it.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const TESTS = pathToFileURL(path.join(import.meta.dirname, '../')).href
const names = process.env.TURNPIKE_TEST_SOURCES
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
    const source = reExports[url.replace(/\?version=0$/, '')]
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})

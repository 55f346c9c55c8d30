/**
 * Loaded by Node first in each thread of tests, and in the threads that these start: what the project's own modules import
 * by these names comes from the bundles of `scripts/one-file-packages.mjs`, and so does AVA's part of a thread. JavaScript,
 * and without imports of ours, since every thread pays for it.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const AVA = 'node_modules/ava/lib/worker/base.js'
const names = process.env.TURNPIKE_TEST_PACKAGES
/** @type {Record<string, string>} */
const urls = names === undefined ? {} : JSON.parse(readFileSync(names, 'utf8'))

registerHooks({
  resolve(specifier, context, next) {
    const [file, query] = specifier.split('?')
    if (file?.endsWith(AVA) && urls[AVA] !== undefined)
      return { url: query === undefined ? urls[AVA] : `${urls[AVA]}?${query}`, format: 'module', shortCircuit: true }
    const url = urls[specifier]
    // Other packages keep what they were installed with; bundles of ours lie beside them.
    const isOurs = url !== undefined && !/\/node_modules\/(?!\.cache\/)/.test(context.parentURL ?? '')
    return isOurs ? { url, format: 'module', shortCircuit: true } : next(specifier, context)
  },
})

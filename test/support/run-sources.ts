import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * Imported by preloads that change a gateway's modules by their paths: makes the gateway run its sources,
 * though there is a bundle of them.
 */
const CHOICE = pathToFileURL(path.resolve(import.meta.dirname, '../../bin/bundle.mjs')).href

registerHooks({
  load(url, context, next) {
    if (url !== CHOICE) return next(url, context)
    return { format: 'module', source: `export const folderToRun = () => 'src'`, shortCircuit: true }
  },
})

/**
 * Loaded by AVA before each file of tests: a file that imports fast-check gets the one of `seeded-fast-check.ts`. Not imported
 * here, since most files have no properties.
 */
import { registerHooks } from 'node:module'
import { isDrill } from './drill.ts'

const SEEDED = new URL('seeded-fast-check.ts', import.meta.url).href

if (!isDrill)
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'fast-check' && context.parentURL !== SEEDED
        ? { url: SEEDED, shortCircuit: true }
        : next(specifier, context),
  })

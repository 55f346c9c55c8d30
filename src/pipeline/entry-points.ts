import { suggest } from '../core/nearest.ts'

/** The gateway's own modules that plugins import, by their import names. */
const ENTRY_POINTS: Readonly<Record<string, URL>> = {
  'turnpike/plugin': new URL('../plugin.ts', import.meta.url),
  'turnpike/plugin/bytes': new URL('../plugin/bytes.ts', import.meta.url),
  'turnpike/plugin/cache': new URL('../plugin/cache.ts', import.meta.url),
  'turnpike/plugin/spend': new URL('../plugin/spend.ts', import.meta.url),
  'turnpike/plugin/test': new URL('../plugin/test.ts', import.meta.url),
  'turnpike/plugin/thread': new URL('../plugin/thread.ts', import.meta.url),
}
const PREFIX = 'turnpike/'

/**
 * Returns the URL of the gateway's own module for an import of an entry point; `undefined` for every other import. Throws
 * for an unknown path of the package, with the nearest valid one.
 */
export function entryPointUrl(specifier: string): string | undefined {
  if (!specifier.startsWith(PREFIX)) return undefined
  const url = ENTRY_POINTS[specifier]
  if (url === undefined) {
    const names = Object.keys(ENTRY_POINTS)
    throw new Error(`\`${specifier}\` is no entry point of Turnpike for plugins.${suggest(specifier, names)}`)
  }
  return url.href
}

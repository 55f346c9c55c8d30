import { readFileSync } from 'node:fs'
import type { Plugin } from 'rolldown'

const HTTP = 'node:http'
const LOCALES = /\/zod\/v4\/locales\/index\.js$/
const MEDIA_TYPES = /\/mime-db\/db\.json$/

/**
 * Leaves out parts of packages that the gateway never uses: exports of `node:http` that load more when first read,
 * zod's messages in other languages, and media types without a file extension or a charset.
 */
export function leaveOut(): Plugin {
  return {
    name: 'leave-out',
    resolveId: {
      order: 'pre',
      handler: (specifier, _importer, { kind }) =>
        (specifier === 'http' || specifier === HTTP) && kind === 'import-statement' ? `\0${HTTP}` : undefined,
    },
    load(id) {
      if (id === `\0${HTTP}`) return httpWithoutLazyExports()
      if (LOCALES.test(id)) return `export { default as en } from './en.js'`
      if (MEDIA_TYPES.test(id)) return mediaTypesInUse(readFileSync(id, 'utf8'))
      return undefined
    },
  }
}

/**
 * Replaces the namespace import of `node:http`, which reads all its exports; `WebSocket` among them loads a whole
 * client, 11 MB.
 */
function httpWithoutLazyExports(): string {
  const exports = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(HTTP)))
  const present = exports.filter(([, { get }]) => get === undefined).map(([name]) => name)
  const module = `process.getBuiltinModule('${HTTP}')`
  return `const http = ${module}\nexport const { ${present.join(', ')} } = http\nexport default http\n`
}

/** Filters `mime-types`: Koa uses only the extensions and the charset of a type. */
function mediaTypesInUse(json: string): string {
  const types: Record<string, { source?: string; extensions?: string[]; charset?: string }> = JSON.parse(json)
  const inUse = Object.entries(types)
    .filter(([, { extensions, charset }]) => extensions !== undefined || charset !== undefined)
    .map(([name, { source, extensions, charset }]) => [name, { source, extensions, charset }])
  return JSON.stringify(Object.fromEntries(inUse))
}

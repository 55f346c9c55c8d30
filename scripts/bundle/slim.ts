import { readFileSync } from 'node:fs'
import type { Plugin } from 'rolldown'

const HTTP = 'node:http'
const HTTP2 = 'node:http2'
const UNDICI = /\/undici\/lib\//
const PINO = /\/pino\/pino\.js$/
const PINO_TRANSPORT = 'pino/transport'
const LOCALES = /\/zod\/v4\/locales\/index\.js$/
const MEDIA_TYPES = /\/mime-db\/db\.json$/
const KOA = /\/koa\/lib\/(application|response)\.js$/
/** Matches Koa's checks of a body. The first read of these globals loads `fetch`, 17 MB, or web streams, 3 MB. */
const WEB_CLASS = /(\w+) instanceof (Response|ReadableStream)\b/g

/**
 * Leaves out parts of packages that the gateway never uses: exports of `node:http` that load more when first read,
 * HTTP/2 to providers, Koa's loading of `fetch`, log threads, zod's messages in other languages, and media types without
 * a file extension or a charset.
 */
export function leaveOut(): Plugin {
  return {
    name: 'leave-out',
    resolveId: {
      order: 'pre',
      handler(specifier, importer = '', { kind }) {
        if ((specifier === 'http' || specifier === HTTP) && kind === 'import-statement') return `\0${HTTP}`
        if (specifier === HTTP2 && UNDICI.test(importer)) return `\0${HTTP2}`
        if (specifier === './transport' && PINO.test(importer)) return `\0${PINO_TRANSPORT}`
        return undefined
      },
    },
    load(id) {
      if (id === `\0${HTTP}`) return httpWithoutLazyExports()
      if (id === `\0${HTTP2}`) return { code: 'module.exports = { constants: {} }', moduleType: 'js' }
      if (id === `\0${PINO_TRANSPORT}`) return { code: 'module.exports = undefined', moduleType: 'js' }
      if (LOCALES.test(id)) return `export { default as en } from './en.js'`
      if (MEDIA_TYPES.test(id)) return mediaTypesInUse(readFileSync(id, 'utf8'))
      return undefined
    },
    transform(code, id) {
      if (!KOA.test(id)) return undefined
      return { code: code.replaceAll(WEB_CLASS, `Object.prototype.toString.call($1) === '[object $2]'`), map: null }
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

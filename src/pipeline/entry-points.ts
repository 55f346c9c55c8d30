import { suggest } from '../core/nearest.ts'

/** The gateway's own modules that plugins import, by their import names. */
const ENTRY_POINTS: Readonly<Record<string, URL>> = {
  'turnpike/plugin': new URL('../plugin.ts', import.meta.url),
  'turnpike/plugin/bytes': new URL('../plugin/bytes.ts', import.meta.url),
  'turnpike/plugin/cache': new URL('../plugin/cache.ts', import.meta.url),
  'turnpike/plugin/commands': new URL('../plugin/commands.ts', import.meta.url),
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

/** Exports of earlier versions, each with its replacement. */
const RENAMED: Readonly<Record<string, string>> = {
  messageOfStream: 'messageReply',
  outputLimitOf: 'mostOutputTokens',
  storedStreamReply: 'messageReply',
  streamOfMessage: 'messageReply',
}
const MISSING_EXPORT = /module '(turnpike\/[^']+)' does not provide an export named '([^']+)'/

/**
 * Returns an explanation of an import that an entry point does not have: the entry point that has it, its new name, or the
 * nearest name; `undefined` for every other error.
 */
export async function explainMissingExport(error: unknown): Promise<string | undefined> {
  if (!(error instanceof SyntaxError)) return undefined
  const [, entry = '', name = ''] = MISSING_EXPORT.exec(error.message) ?? []
  if (!(entry in ENTRY_POINTS)) return undefined
  const current = RENAMED[name] ?? name
  const owner = await entryPointWith(current)
  const what = `\`${entry}\` has no value \`${name}\`.`
  if (owner === undefined) return `${what} Import types with \`import type\`.${suggest(name, await exportsOf(entry))}`
  return `${what} Import \`${current}\` from \`${owner}\`.`
}

async function entryPointWith(name: string): Promise<string | undefined> {
  for (const entry of Object.keys(ENTRY_POINTS)) {
    if ((await exportsOf(entry)).includes(name)) return entry
  }
  return undefined
}

async function exportsOf(entry: string): Promise<string[]> {
  return Object.keys(await import(entryPointUrl(entry) ?? entry))
}

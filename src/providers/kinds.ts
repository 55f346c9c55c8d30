import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ProviderKind } from './kind.ts'

/** `index.ts`; in a bundle `index.js`. */
const ENTRY = `index${path.extname(import.meta.filename)}`

/**
 * The kinds of providers: the folders beside this file that have an `index.ts`, in the order of their names.
 * Loaded on import, because the configuration's schema is composed of their sections.
 */
export const providerKinds: readonly ProviderKind[] = await loadKinds(import.meta.dirname)

async function loadKinds(directory: string): Promise<ProviderKind[]> {
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(directory, entry.name, ENTRY)))
    .map(({ name }) => name)
    .sort()
  return Promise.all(names.map((name) => loadKind(directory, name)))
}

async function loadKind(directory: string, name: string): Promise<ProviderKind> {
  const { kind } = await import(pathToFileURL(path.join(directory, name, ENTRY)).href)
  if (kind?.name !== name) throw new Error(`src/providers/${name}/index.ts: expected \`kind\` to be named \`${name}\``)
  return kind
}

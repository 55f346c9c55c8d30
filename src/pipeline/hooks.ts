import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { entryPointUrl } from './entry-points.ts'

/**
 * DESIGN — importing plugins
 *
 * A plugin folder may be anywhere, without a `node_modules` above it, and may be imported again after it changed. Two
 * module hooks make that work: the entry points for plugins are always the gateway's own modules, and a module that was
 * imported with `?version=N` passes the version on to the modules of its own folder, so that a new version is new in all
 * its files.
 * Old versions stay in memory until the process ends: Node cannot unload modules. Reloading is for development.
 */
/** Sources of the built-in plugins, and the same in a bundle: there are none where the gateway runs from source. */
const BUILT_IN = path.join(import.meta.dirname, '../../plugins')
const BUNDLED = path.join(import.meta.dirname, '../plugins')
const VERSION = 'version'
let installed = false
let lastVersion = 0

/** Installs the hooks, once per process. */
export function installPluginHooks(): void {
  if (installed) return
  installed = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const own = entryPointUrl(specifier)
      if (own !== undefined) return { url: own, shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      const url = versioned(resolved.url, context.parentURL)
      return url === undefined ? resolved : { ...resolved, url }
    },
  })
}

/** Returns a version that no import of this process has used: modules belong to the process. */
export function nextVersion(): number {
  return ++lastVersion
}

/** Imports version `version` of the plugin with this entry file; returns its default export, unchecked. */
export async function importPlugin(entryFile: string, version: number): Promise<unknown> {
  const url = pathToFileURL(entryFile)
  url.searchParams.set(VERSION, String(version))
  const bundled = version === 0 ? bundledEntry(entryFile) : undefined
  const module: { default?: unknown } = await import(bundled ?? url.href)
  return module.default
}

function bundledEntry(entryFile: string): string | undefined {
  const folder = path.dirname(entryFile)
  if (path.dirname(folder) !== BUILT_IN) return undefined
  const file = path.join(BUNDLED, path.basename(folder), 'index.js')
  return existsSync(file) ? pathToFileURL(file).href : undefined
}

function versioned(url: string, parentUrl: string | undefined): string | undefined {
  if (!parentUrl?.includes(`?${VERSION}=`) || !url.startsWith('file:') || url.includes('?')) return undefined
  const parent = new URL(parentUrl)
  const folder = path.dirname(fileURLToPath(parent))
  const file = fileURLToPath(url)
  // The gateway, and its plugins with it, may itself be below a `node_modules`.
  if (!file.startsWith(folder + path.sep) || file.includes(`${path.sep}node_modules${path.sep}`, folder.length))
    return undefined
  return `${url}?${VERSION}=${parent.searchParams.get(VERSION)}`
}

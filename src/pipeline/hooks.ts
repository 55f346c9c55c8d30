import { registerHooks } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * DESIGN — importing plugins
 *
 * A plugin folder may lie anywhere, without a `node_modules` above it, and may be imported again after it changed. Two
 * module hooks make that work: `turnpike/plugin` always means our own door, and a module that was imported with
 * `?version=N` passes the version on to the modules of its own folder, so that a new version is new in all its files.
 * Old versions stay in memory until the process ends: Node cannot unload modules. Reloading is for development.
 */
const DOOR = new URL('../plugin.ts', import.meta.url).href
const VERSION = 'version'
let installed = false

/** Installs the hooks, once per process. */
export function installPluginHooks(): void {
  if (installed) return
  installed = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'turnpike/plugin') return { url: DOOR, shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      const url = versioned(resolved.url, context.parentURL)
      return url === undefined ? resolved : { ...resolved, url }
    },
  })
}

/** Imports version `version` of the plugin whose entry file this is; its default export, whatever it is. */
export async function importPlugin(entryFile: string, version: number): Promise<unknown> {
  const url = pathToFileURL(entryFile)
  url.searchParams.set(VERSION, String(version))
  const module: { default?: unknown } = await import(url.href)
  return module.default
}

function versioned(url: string, parentUrl: string | undefined): string | undefined {
  if (!parentUrl?.includes(`?${VERSION}=`) || !url.startsWith('file:') || url.includes('?')) return undefined
  const parent = new URL(parentUrl)
  const folder = path.dirname(fileURLToPath(parent))
  const file = fileURLToPath(url)
  // The gateway, and its plugins with it, may itself lie below a `node_modules`.
  if (!file.startsWith(folder + path.sep) || file.includes(`${path.sep}node_modules${path.sep}`, folder.length))
    return undefined
  return `${url}?${VERSION}=${parent.searchParams.get(VERSION)}`
}

import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { abortable } from '../core/abortable.ts'
import { messageOf } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import { PARSED_ONCE } from '../core/parsed-once.ts'
import { explain } from '../core/request/message.ts'
import type { PluginDefinition, PluginInstance, PluginServices, ServiceName } from '../plugin/contract.ts'
import { explainMissingExport } from './entry-points.ts'
import { placeIn } from './fault-place.ts'
import { importPlugin, installPluginHooks } from './hooks.ts'
import { LoadedPlugin, optionSchemas } from './registry.ts'

/** Thrown for an unusable plugin, with the cause. `isConfiguration`: its options are at fault, not the plugin. */
export class PluginError extends Error {
  override name = 'PluginError'
  readonly isConfiguration: boolean

  constructor(
    message: string,
    { isConfiguration = false, cause }: { isConfiguration?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isConfiguration = isConfiguration
  }
}

/** A folder with a plugin. */
export interface PluginFolder {
  readonly name: string
  readonly folder: string
  readonly entryFile: string
}

/** Entry files; the first one present is used. */
export const ENTRY_FILES = ['index.ts', 'index.js', 'index.mjs']
/** Pattern of a route's path, without parameters: a path is looked up literally. */
const ROUTE_PATH = /^\/v1(?:\/[a-z][a-z0-9-]*)+$/
const PLUGIN_NAME = /^[a-z][a-z0-9-]{0,63}$/

/** Lists the plugin folders inside `directory`: those with an entry file. Throws when there is no such directory. */
export function findPluginFolders(directory: string): PluginFolder[] {
  const names = readdirSync(directory).filter((name) => PLUGIN_NAME.test(name))
  return names.sort().flatMap((name) => {
    const found = pluginFolderAt(path.join(directory, name))
    return found === undefined ? [] : [found]
  })
}

/** Returns the plugin folder at this path, if it has an entry file. */
export function pluginFolderAt(folder: string): PluginFolder | undefined {
  const entryFile = ENTRY_FILES.map((file) => path.join(folder, file)).find(isFile)
  return entryFile === undefined ? undefined : { name: path.basename(folder), folder, entryFile }
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Inputs of loading a plugin. */
export interface LoadOptions {
  /** Each number is imported anew. */
  readonly version: number
  /** The plugin's options from the configuration, unparsed. */
  readonly configured: Record<string, unknown>
  readonly services: (pluginName: string) => PluginServices
  readonly setupTimeoutMs: number
  /** Runs the work that plugins have left for later, before one is closed. */
  readonly runLater?: (() => void) | undefined
}

/** Imports, checks, configures and sets up one plugin. Throws `PluginError` that names the plugin and the cause. */
export async function loadPlugin(found: PluginFolder, options: LoadOptions): Promise<LoadedPlugin> {
  const definition = await loadDefinition(found, options.version)
  const parsed = parseOptions(definition, options.configured)
  const all = options.services(found.name)
  const services = pick(all, definition.needs)
  const instance = await setUp(definition, {
    folder: found.folder,
    parsed,
    services,
    timeoutMs: options.setupTimeoutMs,
  })
  return new LoadedPlugin(definition, instance, {
    folder: found.folder,
    configured: options.configured,
    log: all.log,
    runLater: options.runLater,
  })
}

/** Imports and checks a plugin's declaration, without setting it up. Throws `PluginError`. */
export async function loadDefinition(found: PluginFolder, version: number): Promise<PluginDefinition> {
  installPluginHooks()
  return checkContract(await importDefinition(found, version), found)
}

/** Parses a plugin's configured options. Throws `PluginError` that names the invalid one. */
export function parseOptions(definition: PluginDefinition, configured: Record<string, unknown>): unknown {
  const parsed = definition.options.safeParse(configured, PARSED_ONCE)
  if (parsed.success) return parsed.data
  throw new PluginError(`plugin \`${definition.name}\`: ${explainOptions(parsed.error, definition)}`, {
    isConfiguration: true,
  })
}

async function importDefinition(found: PluginFolder, version: number): Promise<unknown> {
  try {
    return await importPlugin(found.entryFile, version)
  } catch (cause) {
    const reason = (await explainMissingExport(cause)) ?? messageOf(cause)
    const place = await placeIn(found.folder, cause)
    throw new PluginError(`plugin \`${found.name}\` cannot be imported: ${place}${reason}`, { cause })
  }
}

const SERVICE_NAMES: readonly ServiceName[] = [
  'log',
  'clock',
  'stores',
  'folder',
  'engines',
  'caps',
  'spend',
  'prices',
  'tokens',
  'models',
  'later',
  'deriveKey',
]

const anyFunction = z.custom<(...args: unknown[]) => unknown>(
  (value) => typeof value === 'function',
  'expected a function',
)

/** Versions of the plugin API that this gateway can run. */
const API_VERSIONS: readonly number[] = [1]

const contractSchema = z.strictObject({
  apiVersion: z.literal(API_VERSIONS).optional(),
  name: z.string().regex(PLUGIN_NAME),
  summary: z.string().min(1),
  options: z.custom<z.ZodType>(
    (value) => typeof value === 'object' && value !== null && 'safeParse' in value,
    'expected a zod schema',
  ),
  perRequest: z.array(z.string()),
  needs: z.array(z.enum(SERVICE_NAMES)),
  onError: z.enum(['bypass', 'refuse']),
  removedOptions: z.record(z.string(), z.string()).optional(),
  tightening: z.array(z.string()).optional(),
  guardsContent: z.boolean().optional(),
  commandGroup: z.string().regex(PLUGIN_NAME).optional(),
  commands: z
    .array(
      z.strictObject({
        name: z.string().regex(PLUGIN_NAME),
        summary: z.string().min(1),
        argument: z
          .strictObject({
            name: z.string().min(1),
            description: z.string().min(1),
            example: z.string().min(1).optional(),
          })
          .optional(),
        run: anyFunction,
      }),
    )
    .optional(),
  routes: z
    .array(z.strictObject({ method: z.enum(['GET', 'POST', 'DELETE']), path: z.string().regex(ROUTE_PATH) }))
    .optional(),
  setup: anyFunction,
})

function checkContract(exported: unknown, found: PluginFolder): PluginDefinition {
  if (exported === undefined)
    throw new PluginError(`plugin \`${found.name}\` has no default export: expected definePlugin({ … })`)
  assertApiVersion(exported, found)
  const checked = contractSchema.safeParse(exported, PARSED_ONCE)
  if (!checked.success) throw new PluginError(`plugin \`${found.name}\` breaks the contract: ${explain(checked.error)}`)
  if (checked.data.name !== found.name) {
    throw new PluginError(
      `plugin \`${found.name}\`: its name is \`${checked.data.name}\`, expected the name of its folder`,
    )
  }
  const options = Object.keys(optionSchemas(checked.data))
  const stray = options.length === 0 ? undefined : checked.data.perRequest.find((name) => !options.includes(name))
  if (stray !== undefined) {
    throw new PluginError(
      `plugin \`${found.name}\` breaks the contract: perRequest names \`${stray}\`, which is none of its options.${suggest(stray, options)}`,
    )
  }
  const loose = checked.data.tightening?.find((name) => !checked.data.perRequest.includes(name))
  if (loose !== undefined)
    throw new PluginError(
      `plugin \`${found.name}\` breaks the contract: tightening names \`${loose}\`, which is not in perRequest`,
    )
  // Checked just above; types that zod cannot check (those of setup) are left to the plugin author's compiler.
  return exported as PluginDefinition
}

/** Checks the API version first: the members of another version may be unknown here, and yet valid. */
function assertApiVersion(exported: unknown, { name }: PluginFolder): void {
  if (typeof exported !== 'object' || exported === null || !('apiVersion' in exported)) return
  const { apiVersion } = exported
  if (typeof apiVersion !== 'number' || !Number.isInteger(apiVersion)) return
  if (API_VERSIONS.includes(apiVersion)) return
  throw new PluginError(
    `plugin \`${name}\` is written for version ${apiVersion} of the plugin API: this gateway supports version ${API_VERSIONS.join(', ')}. Install a version of one that fits the other.`,
  )
}

function pick(services: PluginServices, needs: readonly ServiceName[]): Pick<PluginServices, ServiceName> {
  // Exactly the requested services, so that a plugin cannot come to rely on more.
  return Object.fromEntries(needs.map((name) => [name, services[name]])) as unknown as PluginServices
}

interface SetUpOptions {
  readonly folder: string
  readonly parsed: unknown
  readonly services: PluginServices
  readonly timeoutMs: number
}

async function setUp(
  definition: PluginDefinition,
  { folder, parsed, services, timeoutMs }: SetUpOptions,
): Promise<PluginInstance<unknown>> {
  const onTimeout = () => new Error(`setup took longer than ${timeoutMs} ms`)
  let settingUp: Promise<PluginInstance<unknown>> | undefined
  try {
    settingUp = Promise.resolve(definition.setup(parsed, services))
    const instance = await abortable(settingUp, { timeoutMs, onTimeout })
    if (typeof instance?.middleware !== 'function') throw new Error('setup returned no middleware function')
    assertRoutesAnswered(definition, instance)
    return instance
  } catch (cause) {
    // A plugin that finishes too late has acquired resources that only this can release.
    settingUp?.then((instance) => instance?.close?.()).catch(() => {})
    throw new PluginError(
      `plugin \`${definition.name}\` could not be set up: ${await placeIn(folder, cause)}${messageOf(cause)}`,
      {
        cause,
      },
    )
  }
}

function assertRoutesAnswered({ routes = [] }: PluginDefinition, instance: PluginInstance<unknown>): void {
  const unanswered = routes.find(({ method, path }) => typeof instance.routes?.[`${method} ${path}`] !== 'function')
  if (unanswered !== undefined)
    throw new Error(`setup returned no function for its route \`${unanswered.method} ${unanswered.path}\``)
}

/** Describes invalid options of a plugin, with the nearest valid name for an unknown one. */
function explainOptions(error: z.ZodError, definition: PluginDefinition): string {
  const [issue] = error.issues
  if (issue?.code !== 'unrecognized_keys') return explain(error)
  const [key = ''] = issue.keys
  const instead = definition.removedOptions?.[key]
  if (instead !== undefined) return `the option \`${key}\` is gone: ${instead}`
  return `unknown option \`${key}\`.${suggest(key, Object.keys(optionSchemas(definition)))}`
}

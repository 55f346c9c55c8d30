import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { abortable } from '../core/abortable.ts'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type {
  PluginDefinition,
  PluginInstance,
  PluginMiddleware,
  PluginRoute,
  RouteHandler,
} from '../plugin/contract.ts'

/** Most distinct sets of options for which a plugin keeps its middleware. */
const MOST_VARIANTS = 256
/** Time-out of a plugin's close: one that hangs must not keep the others, or the process, from ending. */
const CLOSE_TIMEOUT_MS = 5000

/** Longer than most replies: a request that never ends must not keep an old version forever. */
const LONGEST_RETIREMENT_MS = 15 * 60_000

/** A plugin's folder, its options from the configuration (unparsed), its log, and what runs the work that it has left for later. */
interface Origin {
  readonly folder: string
  readonly configured: Readonly<Record<string, unknown>>
  readonly log: Log
  readonly runLater?: (() => void) | undefined
}

/** A route of a plugin that is in use. */
export interface MountedRoute extends PluginRoute {
  readonly plugin: LoadedPlugin
  readonly handle: RouteHandler
}

/** A plugin that is set up: its declaration, its instance, and the operator's options for it. */
export class LoadedPlugin {
  readonly definition: PluginDefinition
  readonly folder: string
  /** Its options from the configuration, unparsed. */
  readonly configured: Readonly<Record<string, unknown>>
  readonly #instance: PluginInstance<unknown>
  readonly #log: Log
  readonly #runLater: (() => void) | undefined
  /** Compared by value: options may be sets, maps or patterns, which JSON cannot distinguish. */
  #variants: { readonly effective: unknown; readonly middleware: PluginMiddleware }[] = []
  #running = 0
  #retired = false
  #closing: Promise<void> | undefined

  constructor(
    definition: PluginDefinition,
    instance: PluginInstance<unknown>,
    { folder, configured, log, runLater }: Origin,
  ) {
    this.definition = definition
    this.folder = folder
    this.configured = configured
    this.#instance = instance
    this.#log = log
    this.#runLater = runLater
  }

  get name(): string {
    return this.definition.name
  }

  /** Returns the middleware for these effective options, created once per distinct set. */
  middlewareFor(effective: unknown): PluginMiddleware {
    const known = this.#variants.find((variant) => isDeepStrictEqual(variant.effective, effective))
    if (known !== undefined) return known.middleware
    const middleware = this.#make(effective)
    this.#variants.push({ effective, middleware })
    if (this.#variants.length > MOST_VARIANTS) this.#variants.shift()
    return middleware
  }

  /** Creates middleware. A plugin whose middleware cannot be created fails when it runs: as its `onError` decides. */
  #make(effective: unknown): PluginMiddleware {
    try {
      const middleware = this.#instance.middleware(effective)
      if (typeof middleware === 'function') return middleware
      throw new Error('middleware(effective) returned no function')
    } catch (error) {
      return () => Promise.reject(error)
    }
  }

  /** Returns the routes at this path. */
  routesAt(path: string): MountedRoute[] {
    return (this.definition.routes ?? []).flatMap((route) => {
      const handle = this.#instance.routes?.[`${route.method} ${route.path}`]
      return route.path === path && handle !== undefined ? [{ ...route, handle, plugin: this }] : []
    })
  }

  /** Enters the plugin for a request: it is not closed before `leave`, which follows at the end of the reply. */
  enter(): void {
    this.#running++
  }

  leave(): void {
    this.#running--
    if (this.#retired && this.#running === 0) void this.close()
  }

  /** Retires it after a newer version took its place: closes as soon as the last request has left, at the latest after fifteen minutes. */
  retire(): void {
    this.#retired = true
    if (this.#running === 0) return void this.close()
    setTimeout(() => void this.close(), LONGEST_RETIREMENT_MS).unref()
  }

  /** Closes the plugin, once. Never rejects: a plugin that throws or hangs in its `close` is logged. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#runLater?.()
    const onTimeout = () => new Error(`close took longer than ${CLOSE_TIMEOUT_MS} ms`)
    try {
      await abortable(Promise.resolve(this.#instance.close?.()), { timeoutMs: CLOSE_TIMEOUT_MS, onTimeout })
    } catch (error) {
      this.#log.error({ plugin: this.name, reason: messageOf(error) }, 'plugin.close-failed')
    }
  }
}

/** The schemas of a plugin's options by name; none when its schema is not an object. */
export function optionSchemas({ options }: Pick<PluginDefinition, 'options'>): Readonly<Record<string, z.ZodType>> {
  return (options as { shape?: Record<string, z.ZodType> }).shape ?? {}
}

/** An unusable plugin folder. */
export interface BrokenPlugin {
  readonly name: string
  readonly folder: string
  readonly reason: string
  /** True when an earlier version of it is still in use. */
  readonly isKept: boolean
}

/** The installed plugins by name. `generation` changes with every change, to invalidate derived values. */
export class PluginRegistry {
  readonly #plugins = new Map<string, LoadedPlugin>()
  readonly #broken = new Map<string, BrokenPlugin>()
  generation = 0

  get names(): string[] {
    return [...this.#plugins.keys()].sort()
  }

  get(name: string): LoadedPlugin | undefined {
    return this.#plugins.get(name)
  }

  /** Returns the routes at this path, of all plugins. */
  routesAt(path: string): MountedRoute[] {
    return [...this.#plugins.values()].flatMap((plugin) => plugin.routesAt(path))
  }

  /** Unusable plugins, by folder; until the folder becomes usable, or is removed. */
  get broken(): BrokenPlugin[] {
    return [...this.#broken.values()]
  }

  noteBroken(broken: BrokenPlugin): void {
    this.#broken.set(broken.name, broken)
  }

  /** Installs a plugin and retires its earlier version. */
  put(plugin: LoadedPlugin): void {
    this.#plugins.get(plugin.name)?.retire()
    this.#plugins.set(plugin.name, plugin)
    this.#broken.delete(plugin.name)
    this.generation++
  }

  remove(name: string): void {
    this.#broken.delete(name)
    this.#plugins.get(name)?.retire()
    this.#plugins.delete(name)
    this.generation++
  }

  /** Closes all plugins, the last one set up first. */
  async close(): Promise<void> {
    for (const plugin of [...this.#plugins.values()].reverse()) await plugin.close()
    this.#plugins.clear()
  }
}

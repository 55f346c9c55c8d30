import type { PluginDefinition, PluginInstance, PluginMiddleware } from '../plugin.ts'

/** Most distinct sets of options for which a plugin keeps its middleware. */
const MOST_VARIANTS = 256

/** A plugin that is set up: its declaration, its instance, and the operator's options for it. */
export class LoadedPlugin {
  readonly definition: PluginDefinition
  readonly folder: string
  /** What the configuration gives it, unparsed. */
  readonly configured: Readonly<Record<string, unknown>>
  readonly #instance: PluginInstance<unknown>
  readonly #variants = new Map<string, PluginMiddleware>()
  #running = 0
  #retired = false

  constructor(
    definition: PluginDefinition,
    instance: PluginInstance<unknown>,
    { folder, configured }: { folder: string; configured: Record<string, unknown> },
  ) {
    this.definition = definition
    this.folder = folder
    this.configured = configured
    this.#instance = instance
  }

  get name(): string {
    return this.definition.name
  }

  /** The middleware for these effective options, made once per distinct set. */
  middlewareFor(effective: unknown): PluginMiddleware {
    const key = JSON.stringify(effective)
    const known = this.#variants.get(key)
    if (known !== undefined) return known
    const [oldest] = this.#variants.keys()
    if (this.#variants.size >= MOST_VARIANTS && oldest !== undefined) this.#variants.delete(oldest)
    const made = this.#instance.middleware(effective)
    this.#variants.set(key, made)
    return made
  }

  /** A request has entered the plugin: it is not closed before `leave`. */
  enter(): void {
    this.#running++
  }

  leave(): void {
    this.#running--
    if (this.#retired && this.#running === 0) void this.close()
  }

  /** Replaced by a newer version: closes as soon as the last request has left. */
  retire(): void {
    this.#retired = true
    if (this.#running === 0) void this.close()
  }

  async close(): Promise<void> {
    await this.#instance.close?.()
  }
}

/** The installed plugins by name. `generation` changes with every change, for whoever keeps something derived. */
export class PluginRegistry {
  readonly #plugins = new Map<string, LoadedPlugin>()
  generation = 0

  get names(): string[] {
    return [...this.#plugins.keys()].sort()
  }

  get(name: string): LoadedPlugin | undefined {
    return this.#plugins.get(name)
  }

  /** Puts a plugin in, retiring the version that was there. */
  put(plugin: LoadedPlugin): void {
    this.#plugins.get(plugin.name)?.retire()
    this.#plugins.set(plugin.name, plugin)
    this.generation++
  }

  remove(name: string): void {
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

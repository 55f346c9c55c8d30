import { LRUCache } from 'lru-cache'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import { type BoundStep, compose } from './compose.ts'
import type { PipelineContext } from './context.ts'
import { PluginError } from './load.ts'
import { assertClampsFit } from './options.ts'
import type { PluginRegistry } from './registry.ts'
import {
  type PipelineSource,
  type Rails,
  type ResolvedPipeline,
  type ResolvedStep,
  resolvePipeline,
  withLocked,
} from './resolve.ts'

/** A resolved pipeline with its onion. */
export interface RunnablePipeline extends ResolvedPipeline {
  readonly run: RunPipeline
  /** Names of its plugins without which no content may leave. */
  readonly guards: readonly string[]
  /** Runs these alone around `upstream`. */
  readonly runGuards: (ctx: PipelineContext, upstream: RunPipeline) => Promise<void>
}

type RunPipeline = (ctx: PipelineContext) => Promise<void>

/** Dependencies of the pipelines. */
export interface PipelinesOptions {
  readonly registry: PluginRegistry
  readonly rails: Rails
  readonly stepTimeoutMs: number
  readonly upstream: RunPipeline
  /** Plugins that are locked for keys with caps of their owner's, besides those that are locked for all. */
  readonly lockedWhenCapped?: readonly string[]
  readonly log: Log
}

/** Distinct pipeline strings kept resolved; callers may send any number of them. */
const MOST_KEPT = 500

/** Resolves and composes pipelines, once per distinct string and set of plugins. */
export class Pipelines {
  readonly #options: PipelinesOptions
  readonly #kept = new LRUCache<string, RunnablePipeline>({ max: MOST_KEPT })
  #generation = -1
  #rails: Rails

  /** Throws `PluginError` when a clamp does not fit its plugin; a clamp for a missing plugin is reported. */
  constructor(options: PipelinesOptions) {
    this.#options = options
    this.#rails = options.rails
    const { registry, rails, log } = options
    for (const [name, clamps] of Object.entries(rails.clamps)) {
      const plugin = registry.get(name)
      if (plugin === undefined) log.warn({ plugin: name, reason: 'no such plugin' }, 'pipeline.clamp-unused')
      else assertClampsFit(plugin, clamps)
    }
  }

  /**
   * Returns the pipeline of a request: the header's, else the key's, else the operator's default. `isCapped`: the key's
   * owner has set a cap on it. Throws `invalid_request` when the string does not resolve.
   */
  for(header: string | undefined, keyPipeline?: string | null, isCapped = false): RunnablePipeline {
    const locked = isCapped ? this.#options.lockedWhenCapped : undefined
    if (header !== undefined) return this.#get(header, 'header', locked)
    if (keyPipeline !== undefined && keyPipeline !== null) return this.#get(keyPipeline, 'key', locked)
    return this.#get(this.#rails.default, 'default', locked)
  }

  /**
   * Returns the pipeline of an internal request: exactly the named plugins, without locks.
   * Throws `invalid_request` when it does not resolve.
   */
  own(text: string): RunnablePipeline {
    return this.#get(text, 'own')
  }

  /** Returns the rails in force. */
  get rails(): Rails {
    return this.#rails
  }

  /** Replaces the rails from the next request on. Throws `invalid_request` when their own pipeline does not resolve; then nothing changes. */
  adopt(rails: Rails): void {
    const { registry } = this.#options
    resolvePipeline(rails.default, 'default', { registry, rails })
    this.#rails = rails
    this.#kept.clear()
  }

  #get(text: string, source: PipelineSource, locked: readonly string[] = []): RunnablePipeline {
    const { registry } = this.#options
    if (this.#generation !== registry.generation) {
      this.#kept.clear()
      this.#generation = registry.generation
    }
    const key = `${source} ${locked.join()} ${text}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const rails = withLocked(this.#rails, locked)
    const resolved =
      source === 'default' ? this.#resolveOwn(text, rails) : resolvePipeline(text, source, { registry, rails })
    const run = this.#join(resolved.steps)
    const guards = resolved.steps.filter(({ plugin }) => plugin.definition.guardsContent === true)
    const { generation } = registry
    // A body may take long to arrive, and its plugins may be replaced meanwhile.
    const isCurrent = () => registry.generation === generation
    const runnable: RunnablePipeline = {
      ...resolved,
      guards: guards.map(({ plugin }) => plugin.name),
      run: (ctx) => (isCurrent() ? run(ctx) : this.#get(text, source, locked).run(ctx)),
      runGuards: (ctx, upstream) =>
        isCurrent() ? this.#join(guards, upstream)(ctx) : this.#get(text, source, locked).runGuards(ctx, upstream),
    }
    this.#kept.set(key, runnable)
    return runnable
  }

  /** Resolves the operator's own pipeline, whose errors are not the caller's. */
  #resolveOwn(text: string, rails: Rails): ResolvedPipeline {
    const { registry } = this.#options
    try {
      return resolvePipeline(text, 'default', { registry, rails })
    } catch (cause) {
      throw new PluginError(`\`pipeline.default\` cannot run: ${messageOf(cause)}`, { isConfiguration: true, cause })
    }
  }

  #join(steps: readonly ResolvedStep[], upstream: RunPipeline = this.#options.upstream): RunPipeline {
    const { stepTimeoutMs, log } = this.#options
    return compose({ steps: steps.map(bind), upstream, stepTimeoutMs, log })
  }
}

function bind({ plugin, effective }: ResolvedStep): BoundStep {
  return {
    name: plugin.name,
    onError: plugin.definition.onError,
    middleware: plugin.middlewareFor(effective),
    enter: () => plugin.enter(),
    leave: () => plugin.leave(),
  }
}

import { LRUCache } from 'lru-cache'
import type { Log } from '../core/ports.ts'
import type { PluginContext } from '../plugin.ts'
import { type BoundStep, compose } from './compose.ts'
import type { PluginRegistry } from './registry.ts'
import {
  type PipelineSource,
  type Rails,
  type ResolvedPipeline,
  type ResolvedStep,
  resolvePipeline,
} from './resolve.ts'

/** A resolved pipeline with its onion. */
export interface RunnablePipeline extends ResolvedPipeline {
  readonly run: (ctx: PluginContext) => Promise<void>
}

/** What pipelines are made from. */
export interface PipelinesOptions {
  readonly registry: PluginRegistry
  readonly rails: Rails
  readonly stepTimeoutMs: number
  readonly innermost: (ctx: PluginContext) => Promise<void>
  readonly log: Log
}

/** Distinct pipeline strings kept ready to run; callers may send any number of them. */
const MOST_KEPT = 500

/** Resolves and joins pipelines, once per distinct string and set of plugins. */
export class Pipelines {
  readonly #options: PipelinesOptions
  readonly #kept = new LRUCache<string, RunnablePipeline>({ max: MOST_KEPT })
  #generation = -1

  constructor(options: PipelinesOptions) {
    this.#options = options
  }

  /**
   * The pipeline for a request: the header's, else the key's, else the operator's default.
   * Throws `invalid_request` when it does not resolve.
   */
  for(header: string | undefined, keyPipeline?: string | null): RunnablePipeline {
    if (header !== undefined) return this.#get(header, 'header')
    if (keyPipeline !== undefined && keyPipeline !== null) return this.#get(keyPipeline, 'key')
    return this.#get(this.#options.rails.default, 'default')
  }

  #get(text: string, source: PipelineSource): RunnablePipeline {
    const { registry, rails } = this.#options
    if (this.#generation !== registry.generation) {
      this.#kept.clear()
      this.#generation = registry.generation
    }
    const key = `${source} ${text}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const resolved = resolvePipeline(text, source, { registry, rails })
    const runnable = { ...resolved, run: this.#join(resolved) }
    this.#kept.set(key, runnable)
    return runnable
  }

  #join({ steps }: ResolvedPipeline): (ctx: PluginContext) => Promise<void> {
    const { innermost, stepTimeoutMs, log } = this.#options
    return compose({ steps: steps.map(bind), innermost, stepTimeoutMs, log })
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

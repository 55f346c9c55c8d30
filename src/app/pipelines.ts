import { CAP_GUARD } from '../config/locked-guard.ts'
import type { Config } from '../config/schema.ts'
import type { Log } from '../core/ports/log.ts'
import { Pipelines } from '../pipeline/pipelines.ts'
import type { PluginRegistry } from '../pipeline/registry.ts'
import { createUpstreamHandler } from '../pipeline/upstream.ts'
import type { Providers } from '../providers/providers.ts'

/** Input of `openPipelines`. */
export interface PipelineParts {
  readonly config: Config
  readonly registry: PluginRegistry
  readonly providers: Providers
  readonly log: Log
}

/** Opens the pipelines, and resolves the operator's own. Throws `PluginError` when it cannot run. */
export function openPipelines({ config: { pipeline }, registry, providers, log }: PipelineParts): Pipelines {
  const pipelines = new Pipelines({
    registry,
    rails: pipeline,
    lockedWhenCapped: [CAP_GUARD],
    stepTimeoutMs: pipeline.step_timeout,
    upstream: createUpstreamHandler(providers),
    log,
  })
  pipelines.for(undefined)
  return pipelines
}

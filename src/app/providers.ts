import { performance } from 'node:perf_hooks'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import { GatewayError } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import { createProviders, type Providers } from '../providers/providers.ts'

/** Input of `openProviders`. */
export interface ProvidersOptions {
  readonly config: Config
  readonly tokens: TokenCounter
  readonly random: () => number
  readonly log: Log
}

/** Opens the providers. Throws `ConfigError` when the configuration names an unknown one. */
export async function openProviders({ config, tokens, random, log }: ProvidersOptions): Promise<Providers> {
  try {
    return await createProviders(config, { log, tokens, random, nowMs: () => performance.now() })
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new ConfigError(`\`providers\` or \`models\`: ${error.message}`, { cause: error })
  }
}

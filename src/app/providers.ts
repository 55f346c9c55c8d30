import { performance } from 'node:perf_hooks'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import { GatewayError } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import { ProviderFactory } from '../providers/create.ts'
import type { Providers } from '../providers/providers.ts'

/** Input of `openProviders`. */
export interface ProvidersOptions {
  readonly config: Config
  readonly tokens: TokenCounter
  readonly random: () => number
  readonly log: Log
}

/** The providers in use, and the factory of those that follow them. */
export interface OpenProviders {
  readonly providers: Providers
  readonly factory: ProviderFactory
  close(): Promise<void>
}

/** Opens the providers. Throws `ConfigError` when the configuration names an unknown one. */
export async function openProviders({ config, tokens, random, log }: ProvidersOptions): Promise<OpenProviders> {
  try {
    const factory = new ProviderFactory({ log, tokens, random, nowMs: () => performance.now() })
    const providers = await factory.create(config)
    return { providers, factory, close: () => providers.close() }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new ConfigError(`\`providers\` or \`models\`: ${error.message}`, { cause: error })
  }
}

import type { Config } from '../config/schema.ts'
import { GatewayError } from '../core/errors.ts'
import type { Target } from '../core/exchange.ts'
import type { Log, PresentedCredential, Provider } from '../core/ports.ts'
import { AnthropicProvider } from './anthropic/provider.ts'
import type { CallPolicy } from './call.ts'
import { DemoProvider } from './demo/provider.ts'
import { HeaderForwarder } from './headers.ts'
import { type Selection, selectTarget } from './select.ts'
import { Transport } from './transport.ts'

/** What providers need besides their configuration. */
interface Parts {
  readonly log: Log
  readonly random: () => number
}

/** The providers there are, and which one answers a model. */
export class Providers {
  readonly #byName: ReadonlyMap<string, Provider>
  /** The name of the provider of models that no provider claims. */
  readonly fallback: string
  readonly #selection: Selection

  constructor(providers: readonly Provider[], fallback: string) {
    this.#byName = new Map(providers.map((provider) => [provider.name, provider]))
    this.fallback = fallback
    this.#selection = { providers: new Set(this.#byName.keys()), fallback }
  }

  get all(): readonly Provider[] {
    return [...this.#byName.values()]
  }

  get(name: string): Provider {
    const provider = this.#byName.get(name)
    if (provider === undefined) throw new GatewayError('invalid_request', `There is no provider \`${name}\`.`)
    return provider
  }

  /** Throws `invalid_request` for an unknown prefix. */
  select(model: string): Target {
    return selectTarget(model, this.#selection)
  }

  /** The default provider if this caller can use it, else any that it can; the default when there is none. */
  listing(credential: PresentedCredential): Provider {
    const fallback = this.get(this.fallback)
    if (fallback.isUsableBy(credential)) return fallback
    return this.all.find((provider) => provider.isUsableBy(credential)) ?? fallback
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((provider) => provider.close()))
  }
}

const DEFAULT_ANTHROPIC_URL = 'https://api.anthropic.com'

/** Creates the configured providers. The demo provider is there only while no other has a credential, or when switched on. */
export function createProviders({ mode, providers: config }: Config, { log, random }: Parts): Providers {
  const policy = (provider: string): CallPolicy => ({
    provider,
    tries: config.tries,
    replyLimitBytes: config.reply_limit,
    random,
    log,
  })
  const { connections, timeouts, proxy, no_proxy } = config
  const anthropic = new AnthropicProvider({
    apiKey: config.anthropic.api_key,
    passThrough: mode === 'local',
    credentialOptional: config.anthropic.base_url !== DEFAULT_ANTHROPIC_URL,
    transport: new Transport(config.anthropic.base_url, { connections, timeouts, proxy, no_proxy }),
    forwarder: new HeaderForwarder(config.forward_headers),
    policy: policy('anthropic'),
  })
  const all: Provider[] = [anthropic]
  if (config.demo === 'on' || (config.demo === 'auto' && !anthropic.configured)) all.push(new DemoProvider())
  return new Providers(all, config.default)
}

import { GatewayError } from '../core/errors.ts'
import type { PresentedCredential, Provider } from '../core/ports/provider.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Exchange, Target } from '../core/request/exchange.ts'
import { usageCheckOf } from './believed-usage.ts'
import { completeWithFallback } from './fallback.ts'
import type { ProviderSettings } from './kind.ts'
import { ModelRoutes, type Targets } from './routes.ts'
import { type Selection, selectTarget } from './select.ts'

/** The configuration of all providers. */
export interface ProvidersConfig {
  readonly mode: 'local' | 'cloud'
  readonly models: Readonly<Record<string, readonly string[]>>
  readonly tracing?: { readonly endpoint?: string | undefined }
  /** The general settings, and a section for each kind of provider. */
  readonly providers: ProviderSettings & { readonly default: string; readonly shared: boolean }
}

interface ProvidersOptions {
  readonly routes?: ProvidersConfig['models']
  readonly settings?: ReadonlyMap<string, string>
  /** Checks the usage that providers report; unset: it is accepted unchecked. */
  readonly tokens?: TokenCounter
}

/** Most replaced providers that are kept for requests in flight. */
const MOST_REPLACED = 200

/** The configured providers, and the selection among them. */
export class Providers {
  #byName: ReadonlyMap<string, Provider>
  /** The provider of models that no other provider claims. */
  readonly fallback: string
  #selection: Selection
  #routes: ModelRoutes
  /** Replaced providers, oldest first: requests in flight still use them. */
  readonly #replaced: Provider[] = []
  readonly #tokens: TokenCounter | undefined

  /** Throws `invalid_request` when `fallback` or a model's route names an unknown provider. */
  constructor(
    providers: readonly Provider[],
    fallback: string,
    { routes = {}, settings, tokens }: ProvidersOptions = {},
  ) {
    this.#byName = new Map(providers.map((provider) => [provider.name, provider]))
    this.fallback = this.get(fallback).name
    this.#selection = { providers: this.#byName, fallback, ...(settings && { settings }) }
    this.#routes = new ModelRoutes(routes, this.#selection)
    this.#tokens = tokens
  }

  get all(): readonly Provider[] {
    return [...this.#byName.values()]
  }

  /** Model names with a configured route. */
  get routedModels(): readonly string[] {
    return this.#routes.names
  }

  get(name: string): Provider {
    const provider = this.#byName.get(name)
    if (provider === undefined) throw new GatewayError('invalid_request', `Unknown provider \`${name}\`.`)
    return provider
  }

  /** Returns the targets of a model. Throws `invalid_request` for an unknown prefix. */
  targetsOf(model: string): Targets {
    return this.#routes.find(model)
  }

  /** Returns the first target of a model; `undefined` for an invalid name. */
  targetIfAny(model: string): Target | undefined {
    try {
      return this.#routes.find(model)[0]
    } catch (error) {
      if (error instanceof GatewayError) return undefined
      throw error
    }
  }

  /** Returns the name under which clients find a provider's model: its own if that selects the provider, else with the prefix. */
  publicName(provider: string, model: string): string {
    const isPlain = !model.includes('/') && selectTarget(model, this.#selection).provider === provider
    return isPlain ? model : `${provider}/${model}`
  }

  /** Returns the providers that this caller can use; the default when there is none, for its error. */
  usableBy(credential: PresentedCredential | undefined): readonly Provider[] {
    const usable = this.all.filter((provider) => provider.isUsableBy(credential))
    return usable.length > 0 ? usable : [this.get(this.fallback)]
  }

  /** Returns the caller's own parts that the exchange's targets would receive: see `Provider.callerParts`. */
  readonly callerParts = ({ targets, credential, headers }: Exchange): string => {
    let parts = ''
    for (const target of targets) {
      const own = this.get(target.provider).callerParts?.(credential, headers) ?? ''
      if (own !== '') parts += `${target.provider} ${own.length}:${own}`
    }
    return parts
  }

  /** Calls the exchange's targets in turn until one replies; the usage that it reports is checked. */
  async complete(exchange: Exchange): Promise<Reply> {
    const reply = await completeWithFallback(exchange, (name) => this.get(name))
    if (this.#tokens !== undefined) reply.checkUsage(usageCheckOf(exchange, this.#tokens))
    return reply
  }

  /**
   * Replaces providers and routes by those of `next`, from the next request on. A replaced provider is closed with the gateway,
   * or after many further replacements.
   */
  async adopt(next: Providers): Promise<void> {
    const kept = new Set(next.all)
    this.#replaced.push(...this.all.filter((provider) => !kept.has(provider)))
    this.#byName = next.#byName
    this.#selection = next.#selection
    this.#routes = next.#routes
    const over = Math.max(0, this.#replaced.length - MOST_REPLACED)
    await Promise.all(this.#replaced.splice(0, over).map((provider) => provider.close()))
  }

  /** Throws `invalid_request` for a route to an unknown provider. */
  assertRoutes(routes: ProvidersConfig['models']): void {
    void new ModelRoutes(routes, this.#selection)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#replaced, ...this.all].map((provider) => provider.close()))
  }
}

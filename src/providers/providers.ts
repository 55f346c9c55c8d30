import { GatewayError } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { PresentedCredential, Provider } from '../core/ports/provider.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Exchange, Target } from '../core/request/exchange.ts'
import { usageCheckOf } from './believed-usage.ts'
import { completeWithFallback } from './fallback.ts'
import type { ProviderParts, ProviderSettings } from './kind.ts'
import { providerKinds } from './kinds.ts'
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

/** Dependencies of the providers beside their configuration. */
interface Parts {
  readonly log: Log
  readonly tokens: TokenCounter
  readonly random: () => number
  readonly nowMs: () => number
}

interface ProvidersOptions {
  readonly routes?: ProvidersConfig['models']
  readonly settings?: ReadonlyMap<string, string>
  /** Checks the usage that providers report; unset: it is accepted unchecked. */
  readonly tokens?: TokenCounter
}

/** The configured providers, and the selection among them. */
export class Providers {
  readonly #byName: ReadonlyMap<string, Provider>
  /** The provider of models that no other provider claims. */
  readonly fallback: string
  readonly #selection: Selection
  readonly #routes: ModelRoutes
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

  async close(): Promise<void> {
    await Promise.all(this.all.map((provider) => provider.close()))
  }
}

/** Creates the configured providers of every kind. */
export async function createProviders(config: ProvidersConfig, parts: Parts): Promise<Providers> {
  const { mode, models, providers: settings } = config
  const kindParts: ProviderParts = {
    ...parts,
    settings,
    passThrough: mode === 'local',
    isShared: mode === 'local' || settings.shared,
    isTraced: config.tracing?.endpoint !== undefined,
  }
  const sections = settings as unknown as Readonly<Record<string, unknown>>
  const created = await Promise.all(providerKinds.map((kind) => kind.create(sections[kind.name], kindParts)))
  const all = created.flat()
  const hasCredential = all.some(({ configured }) => configured)
  const there = all.filter(({ stepsBack }) => !(stepsBack && hasCredential))
  const notThere = providerKinds.flatMap((kind) => Object.entries(kind.settings ?? {}))
  return new Providers(there, settings.default, {
    routes: models,
    settings: new Map(notThere),
    tokens: parts.tokens,
  })
}

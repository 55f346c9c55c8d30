import type { Log } from '../core/ports/log.ts'
import type { Provider } from '../core/ports/provider.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import type { ProviderParts } from './kind.ts'
import { providerKinds } from './kinds.ts'
import { Providers, type ProvidersConfig } from './providers.ts'

/** Dependencies of the providers beside their configuration. */
export interface ProviderDependencies {
  readonly log: Log
  readonly tokens: TokenCounter
  readonly random: () => number
  readonly nowMs: () => number
}

/** Creates the configured providers of every kind. */
export function createProviders(config: ProvidersConfig, parts: ProviderDependencies): Promise<Providers> {
  return new ProviderFactory(parts).create(config)
}

/** Creates providers for one configuration after another: those of an unchanged section are kept, with their connections. */
export class ProviderFactory {
  readonly #parts: ProviderDependencies
  readonly #created = new Map<string, { readonly section: string; readonly providers: readonly Provider[] }>()

  constructor(parts: ProviderDependencies) {
    this.#parts = parts
  }

  /** Throws `invalid_request` when the default provider or a model's route names an unknown one. */
  async create(config: ProvidersConfig): Promise<Providers> {
    const created = await Promise.all(providerKinds.map(({ name }) => this.#ofKind(name, config)))
    const all = created.flat()
    const hasCredential = all.some(({ configured }) => configured)
    const there = all.filter(({ stepsBack }) => !(stepsBack && hasCredential))
    const notThere = providerKinds.flatMap((kind) => Object.entries(kind.settings ?? {}))
    return new Providers(there, config.providers.default, {
      routes: config.models,
      settings: new Map(notThere),
      tokens: this.#parts.tokens,
    })
  }

  /** Creates a provider beside those in use, for a trial; the caller closes it. `undefined`: the section has none of this name. */
  async createOne(kindName: string, name: string, config: ProvidersConfig): Promise<Provider | undefined> {
    const created = await createKind(kindName, config, this.#parts)
    const wanted = created.find((provider) => provider.name === name)
    await Promise.all(created.filter((provider) => provider !== wanted).map((provider) => provider.close()))
    return wanted
  }

  async #ofKind(name: string, config: ProvidersConfig): Promise<readonly Provider[]> {
    const section = JSON.stringify(sectionOf(name, config)) ?? ''
    const known = this.#created.get(name)
    if (known?.section === section) return known.providers
    const providers = await createKind(name, config, this.#parts)
    this.#created.set(name, { section, providers })
    return providers
  }
}

async function createKind(
  name: string,
  config: ProvidersConfig,
  dependencies: ProviderDependencies,
): Promise<readonly Provider[]> {
  const kind = providerKinds.find((each) => each.name === name)
  const { mode, providers: settings, tracing } = config
  const parts: ProviderParts = {
    ...dependencies,
    settings,
    passThrough: mode === 'local',
    isShared: mode === 'local' || settings.shared,
    isTraced: tracing?.endpoint !== undefined,
  }
  return kind === undefined ? [] : kind.create(sectionOf(name, config), parts)
}

/** Each kind's own schema has parsed its section. */
function sectionOf(name: string, { providers }: ProvidersConfig): unknown {
  return (providers as unknown as Readonly<Record<string, unknown>>)[name]
}

import { LRUCache } from 'lru-cache'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { ListedModel, Provider, RelayCall } from '../core/ports/provider.ts'
import { betaTextOf, versionOf } from '../core/request/version-headers.ts'
import type { Providers } from './providers.ts'

/** A model as clients find it. */
export interface CataloguedModel extends Omit<ListedModel, 'ownedBy'> {
  readonly ownedBy: string
  /** The entry of the model behind one of the operator's own names. */
  readonly limits?: ListedModel['fields']
}

const FRESH_MS = 5 * 60_000
/** Clients abort a list after three seconds: a slower provider is left out. */
const LONGEST_WAIT_MS = 2500
const MOST_KEPT = 200

/**
 * The models of all providers. The list of a provider with an operator's credential is cached for five minutes, per
 * version, betas and forwarded headers; the list for a caller's own credential is queried each time.
 */
export class ModelCatalogue {
  readonly #providers: Providers
  readonly #log: Log
  readonly #kept = new LRUCache<string, readonly ListedModel[]>({ max: MOST_KEPT, ttl: FRESH_MS })

  constructor(providers: Providers, log: Log) {
    this.#providers = providers
    this.#log = log
  }

  /**
   * Lists the operator's own names first, then the models of every provider that this caller can use. A provider that fails
   * is left out; when all do, throws the first one's error.
   */
  async list(call: RelayCall): Promise<CataloguedModel[]> {
    const usable = this.#providers.usableBy(call.credential)
    const lists = await Promise.allSettled(usable.map((provider) => this.#modelsOf(provider, call)))
    call.signal.throwIfAborted()
    const failures = lists.flatMap((list) => (list.status === 'rejected' ? [list.reason] : []))
    if (failures.length === lists.length) throw failures[0]
    const models = lists.flatMap((list, index) => {
      const provider = usable[index]?.name ?? ''
      if (list.status === 'rejected') this.#log.warn({ provider, reason: messageOf(list.reason) }, 'models.unlisted')
      return list.status === 'rejected' ? [] : list.value.map((model) => this.#publish(provider, model))
    })
    const listed = new Map(models.map((model) => [model.id, model]))
    const routed = this.#providers.routedModels.map((id) => ({
      id,
      ownedBy: 'turnpike',
      limits: this.#limitsOf(id, listed),
    }))
    return [...new Map([...routed, ...models].map((model) => [model.id, model])).values()]
  }

  /**
   * Finds one model by its public name: in the lists, or else at the provider that would answer it, since lists leave out
   * aliases and older models. Returns the names of the lists when there is none.
   */
  async find(id: string, call: RelayCall): Promise<CataloguedModel | { readonly names: readonly string[] }> {
    const models = await this.list(call)
    const listed = models.find((model) => model.id === id)
    if (listed !== undefined) return listed
    const found = await this.#ask(id, call)
    return found === undefined ? { names: models.map((model) => model.id) } : { ...found, id }
  }

  /** Returns the provider's entry of the first model behind one of the operator's own names. */
  #limitsOf(id: string, listed: ReadonlyMap<string, CataloguedModel>): ListedModel['fields'] {
    const target = this.#providers.targetIfAny(id)
    return target && listed.get(this.#providers.publicName(target.provider, target.model))?.fields
  }

  async #ask(id: string, call: RelayCall): Promise<CataloguedModel | undefined> {
    const target = this.#providers.targetIfAny(id)
    const provider = target && this.#providers.get(target.provider)
    if (provider?.findModel === undefined || !provider.isUsableBy(call.credential)) return undefined
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LONGEST_WAIT_MS)])
    const found = await provider.findModel(target?.model ?? id, { ...call, signal })
    return found && this.#publish(provider.name, found)
  }

  async #modelsOf(provider: Provider, call: RelayCall): Promise<readonly ListedModel[]> {
    // The list for a caller's own key must not be shared.
    const isCallersOwn = call.credential?.provider === provider.name
    const view = viewOf(provider, call)
    const kept = isCallersOwn ? undefined : this.#kept.get(view)
    if (kept !== undefined) return kept
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LONGEST_WAIT_MS)])
    const models = await provider.listModels({ ...call, signal })
    if (provider.configured && !isCallersOwn) this.#kept.set(view, models)
    return models
  }

  #publish(provider: string, { id, ownedBy, ...rest }: ListedModel): CataloguedModel {
    return { ...rest, id: this.#providers.publicName(provider, id), ownedBy: ownedBy ?? provider }
  }
}

/** Returns the inputs that may change a provider's list: its name first, then the caller's headers. */
function viewOf(provider: Provider, { credential, headers }: RelayCall): string {
  const parts = provider.callerParts?.(credential, headers) ?? ''
  return JSON.stringify([provider.name, parts, versionOf(headers), betaTextOf(headers)])
}

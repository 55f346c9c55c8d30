import { GatewayError } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import type { Provider } from '../core/ports/provider.ts'
import type { Target } from '../core/request/exchange.ts'

/** Inputs of a provider's selection. */
export interface Selection {
  readonly providers: ReadonlyMap<string, Provider>
  /** The provider of models that no other provider claims. */
  readonly fallback: string
  /** Settings that enable optional providers, by the provider's name. */
  readonly settings?: ReadonlyMap<string, string>
}

/**
 * Selects the provider of a model: by its prefix (`openai/…`), by the form of its name, by the configured default.
 * Throws `invalid_request` when the prefix names no provider.
 */
export function selectTarget(model: string, { providers, fallback, settings }: Selection): Target {
  const slash = model.indexOf('/')
  if (slash === -1) {
    for (const provider of providers.values()) if (provider.claims(model)) return targetOf(provider, model)
    const provider = providers.get(fallback)
    return provider === undefined ? { provider: fallback, model } : targetOf(provider, model)
  }
  const prefix = model.slice(0, slash)
  const provider = providers.get(prefix)
  if (provider === undefined) {
    const setting = settings?.get(prefix)
    if (setting !== undefined)
      throw new GatewayError('invalid_request', `model: provider \`${prefix}\` is not set up here. Set ${setting}.`)
    throw new GatewayError(
      'invalid_request',
      `model: expected the name of a provider before the slash, got \`${prefix}\`.${suggest(prefix, [...providers.keys()])}`,
    )
  }
  if (slash === model.length - 1)
    throw new GatewayError('invalid_request', `model: expected a model name after \`${prefix}/\`.`)
  return targetOf(provider, model.slice(slash + 1))
}

function targetOf({ name, storesResponses }: Provider, model: string): Target {
  return { provider: name, model, ...(storesResponses === false && { translatesResponses: true }) }
}

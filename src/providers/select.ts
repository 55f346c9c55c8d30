import { GatewayError } from '../core/errors.ts'
import type { Target } from '../core/exchange.ts'
import { suggest } from '../core/nearest.ts'

/** What decides which provider answers a model. */
export interface Selection {
  /** Names of the providers there are. */
  readonly providers: ReadonlySet<string>
  /** Answers models that no provider claims. */
  readonly fallback: string
}

/** Model names that a provider claims by their form. */
const CLAIMS: readonly [RegExp, string][] = [[/^claude-/, 'anthropic']]

/**
 * Finds the provider of a model: by its prefix (`anthropic/…`), by the form of its name, by the configured default.
 * Throws `invalid_request` when the prefix names no provider.
 */
export function selectTarget(model: string, { providers, fallback }: Selection): Target {
  const slash = model.indexOf('/')
  if (slash === -1) {
    const claimed = CLAIMS.find(([form]) => form.test(model))?.[1]
    return { provider: claimed !== undefined && providers.has(claimed) ? claimed : fallback, model }
  }
  const prefix = model.slice(0, slash)
  if (!providers.has(prefix)) {
    throw new GatewayError(
      'invalid_request',
      `model: expected the name of a provider before the slash, got \`${prefix}\`.${suggest(prefix, [...providers])}`,
    )
  }
  return { provider: prefix, model: model.slice(slash + 1) }
}

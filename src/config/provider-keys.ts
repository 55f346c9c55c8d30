import { GatewayError } from '../core/errors.ts'
import { listOptions } from './options.ts'
import { type Config, configSchema } from './schema.ts'

/** Kind whose services have names of the operator's own. */
const NAMED_KIND = 'openai-compatible'
const OWN_NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/

/** A provider that takes an API key. */
export interface KeyedProvider {
  readonly name: string
  /** Kind of the provider: its section below `providers`. */
  readonly kind: string
  /** Path of its section. */
  readonly path: readonly string[]
  /** Environment variable of the key; `undefined` for a service with a name of the operator's own. */
  readonly variable: string | undefined
  /** Address unless another is configured. */
  readonly baseUrl: string | undefined
}

/** Key of a provider, and its address where it has none by default. */
export interface ProviderKey {
  readonly apiKey: string
  readonly baseUrl?: string | undefined
}

/** Lists the known providers that take an API key from a variable. */
export function keyedProviders(): KeyedProvider[] {
  const options = listOptions(configSchema)
  return options.flatMap(({ path, env }) => {
    const [root, kind = ''] = path
    if (root !== 'providers' || path.at(-1) !== 'api_key' || env === undefined) return []
    const section = path.slice(0, -1)
    const url = options.find((option) => option.path.join('.') === [...section, 'base_url'].join('.'))
    const baseUrl = typeof url?.defaultValue === 'string' ? url.defaultValue : undefined
    return [{ name: section.at(-1) ?? '', kind, path: section, variable: env, baseUrl }]
  })
}

/** Returns the provider of a name: a known one, or a service of the operator's own. Throws `invalid_request`. */
export function keyedProvider(name: string, config: Pick<Config, 'providers'>): KeyedProvider {
  const known = keyedProviders().find((provider) => provider.name === name)
  if (known !== undefined) return known
  const isTaken = Object.hasOwn(config.providers, name) || sectionAt(config, [NAMED_KIND, name]) !== undefined
  if (OWN_NAME.test(name) && !isTaken)
    return { name, kind: NAMED_KIND, path: ['providers', NAMED_KIND, name], variable: undefined, baseUrl: undefined }
  const names = keyedProviders().map((provider) => provider.name)
  throw new GatewayError(
    'invalid_request',
    `provider: expected one of ${names.join(', ')}, or a new name of a-z, 0-9, \`.\`, \`_\` and \`-\`, got \`${name}\`.`,
  )
}

/** Returns true when the configuration itself has a key for the provider; it takes precedence over a stored one. */
export function hasConfiguredKey(config: Pick<Config, 'providers'>, { path }: KeyedProvider): boolean {
  const section = sectionAt(config, path.slice(1))
  return section?.api_key !== undefined || (Array.isArray(section?.keys) && section.keys.length > 0)
}

/** Returns the configuration with a provider's key. Throws `invalid_request` for an address or key that its schema refuses. */
export function withProviderKey(config: Config, provider: KeyedProvider, { apiKey, baseUrl }: ProviderKey): Config {
  const [, kind = '', service] = provider.path
  const given = { api_key: apiKey, ...(baseUrl !== undefined && { base_url: baseUrl }) }
  const existing = sectionAt(config, provider.path.slice(1))
  const parsed = configSchema.shape.providers.safeParse({
    [kind]: service === undefined ? given : { [service]: given },
  })
  if (!parsed.success) {
    // The message alone: the value is a secret.
    const fault = parsed.error.issues[0]
    throw new GatewayError(
      'invalid_request',
      `${String(fault?.path.at(-1) ?? 'key')}: ${fault?.message ?? 'not valid'}.`,
    )
  }
  const section = { ...(existing ?? sectionAt({ providers: parsed.data }, provider.path.slice(1))), ...given }
  const services = service === undefined ? section : { ...sectionAt(config, [kind]), [service]: section }
  return { ...config, providers: { ...config.providers, [kind]: services } }
}

/** Sections of kinds are unknown to the type of the configuration. */
function sectionAt({ providers }: Pick<Config, 'providers'>, path: readonly string[]) {
  let node: unknown = providers
  for (const key of path) node = (node as Readonly<Record<string, unknown>> | undefined)?.[key]
  return node as Readonly<Record<string, unknown>> | undefined
}

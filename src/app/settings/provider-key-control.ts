import { assertOpen } from '../../config/overlay.ts'
import {
  hasConfiguredKey,
  type KeyedProvider,
  keyedProvider,
  keyedProviders,
  withProviderKey,
} from '../../config/provider-keys.ts'
import { openSecretsKey } from '../../config/secrets-key.ts'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { OPERATOR } from '../../core/ports/provider.ts'
import { seal } from '../../core/sealing.ts'
import type { SettingsControl, WantedKey } from '../../http/dashboard/settings/control.ts'
import { createRequestId } from '../../http/request-id.ts'
import { placeOfKey, type SettingsInUse, type SettingsParts } from './in-use.ts'

type KeyControl = Pick<SettingsControl, 'providers' | 'hasProvider' | 'testKey' | 'storeKey' | 'removeKey'>

/** Time limit of a trial, in milliseconds. */
const TRIAL_MS = 10_000
const SHOWN_CHARACTERS = 4
/** A shorter key would be half shown. */
const SHORTEST_SHOWN = 12
const DEMO = 'demo'

/** Creates the part of the settings' control that stores keys of providers. */
export function createKeyControl(parts: SettingsParts, inUse: SettingsInUse): KeyControl {
  const { loaded, store, factory, providers } = parts
  const { config } = loaded
  const testKey = async ({ provider: name, apiKey, baseUrl }: WantedKey) => {
    const target = writable(name)
    if (target.baseUrl === undefined && baseUrl === undefined)
      throw new GatewayError('invalid_request', `baseUrl: expected the address of \`${name}\`.`)
    if (baseUrl !== undefined) assertOpen([...target.path, 'base_url'].join('.'), loaded.sourceOf)
    const trial = withProviderKey(inUse.config, target, { apiKey, baseUrl })
    // One attempt: the operator waits for it.
    const once = { ...trial, providers: { ...trial.providers, tries: 1 } }
    const provider = await factory.createOne(target.kind, name, once)
    if (provider === undefined) throw new GatewayError('invalid_request', `provider: \`${name}\` cannot be set up.`)
    try {
      const models = await provider.listModels(trialCall())
      return { models: models.length }
    } catch (error) {
      throw new GatewayError('invalid_request', reasonOf(error, name), { cause: error })
    } finally {
      await provider.close()
    }
  }
  const writable = (name: string): KeyedProvider => {
    if (!inUse.isEditable) throw new GatewayError('permission_error', `${READ_ONLY} ${adviceFor(name)}`)
    const target = keyedProvider(name, config)
    if (!hasConfiguredKey(config, target)) return target
    throw new GatewayError(
      'invalid_request',
      `The configuration has a key for ${name} already, which takes precedence.`,
    )
  }
  const adviceFor = (name: string) => {
    const variable = keyedProviders().find((provider) => provider.name === name)?.variable
    return variable === undefined ? 'Add it to `providers` in the file.' : `Set ${variable}.`
  }
  return {
    testKey,
    providers: () => shownProviders(parts, inUse),
    hasProvider: () => providers.all.some(({ name, configured }) => name !== DEMO && configured),
    async storeKey({ provider, apiKey, baseUrl }, author) {
      writable(provider)
      const text = JSON.stringify({ apiKey, ...(baseUrl !== undefined && { baseUrl }) })
      const sealed = seal(openSecretsKey(config), text, placeOfKey(provider))
      const value = JSON.stringify({ endsWith: endOf(apiKey), ...(baseUrl !== undefined && { baseUrl }) })
      await store.changeKey({ ...author, name: nameOf(provider), value, provider, sealed })
      await inUse.changed()
    },
    async removeKey(provider, author) {
      if (!inUse.isEditable) throw new GatewayError('permission_error', READ_ONLY)
      if (!inUse.keys.some((key) => key.provider === provider))
        throw new GatewayError('not_found', `No key of ${provider} is stored.`)
      await store.changeKey({ ...author, name: nameOf(provider), value: null, provider, sealed: null })
      await inUse.changed()
    },
  }
}

const READ_ONLY = 'Settings are read-only here (`settings.editable` is off).'

function nameOf(provider: string): string {
  return `providers.${provider}.api_key`
}

function endOf(apiKey: string): string {
  return apiKey.length < SHORTEST_SHOWN ? '' : apiKey.slice(-SHOWN_CHARACTERS)
}

function shownProviders({ loaded: { config, sourceOf }, providers }: SettingsParts, inUse: SettingsInUse): object[] {
  const known = keyedProviders()
  const ofOwnName = inUse.keys.filter(({ provider }) => !known.some(({ name }) => name === provider))
  const own = ofOwnName.map(({ provider }) => ({ ...keyedProvider(provider, config), isOwnName: true }))
  return [...known, ...own].map((target) => {
    const { name, path, variable, baseUrl } = target
    const stored = inUse.keys.find(({ provider }) => provider === name)
    const isConfigured = hasConfiguredKey(config, target)
    return {
      name,
      variable,
      baseUrl: stored?.baseUrl ?? baseUrl,
      source: isConfigured ? sourceOf(`${path.join('.')}.api_key`) : stored?.isInForce ? 'dashboard' : null,
      endsWith: stored?.isInForce ? endOf(stored.apiKey) : null,
      isStored: stored !== undefined,
      fault: stored?.reason ?? null,
      isUsable: providers.all.some((provider) => provider.name === name && provider.configured),
    }
  })
}

function trialCall() {
  return {
    method: 'GET' as const,
    path: '/v1/models',
    query: '',
    scope: 'operator',
    headers: {},
    body: undefined,
    credential: OPERATOR,
    requestId: createRequestId(),
    signal: AbortSignal.timeout(TRIAL_MS),
  }
}

/** Returns the reason of a failed trial. Provider's texts are left out: some repeat the key. */
function reasonOf(error: unknown, name: string): string {
  if (!(error instanceof GatewayError)) return `${name} did not answer within ${TRIAL_MS / 1000} seconds.`
  const { status } = (error.fields.provider ?? {}) as { readonly status?: number | null }
  if (status === 401 || status === 403)
    return `${name} refused the key (status ${status}). Check that it is complete and active.`
  if (status === 404) return `${name} has no list of models at this address (status 404). Check the address.`
  if (status === 429) return `${name} refused the call for its rate or credit limit (status 429). Check the account.`
  if (typeof status === 'number') return `${name} answered with status ${status}. Try again later.`
  return `${name} cannot be reached: ${messageOf(error)}`
}

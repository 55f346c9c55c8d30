import type { LoadedConfig } from '../../config/load.ts'
import { type IgnoredOverride, type Override, withOverrides } from '../../config/overlay.ts'
import { hasConfiguredKey, keyedProvider, type ProviderKey, withProviderKey } from '../../config/provider-keys.ts'
import type { Config } from '../../config/schema.ts'
import { readSecretsKey } from '../../config/secrets-key.ts'
import { messageOf } from '../../core/errors.ts'
import { type Interval, startInterval } from '../../core/interval.ts'
import type { Channel } from '../../core/ports/channel.ts'
import type { Log } from '../../core/ports/log.ts'
import type { SealedKey, SettingStore, StoredSettings } from '../../core/ports/settings.ts'
import { unseal } from '../../core/sealing.ts'
import type { Pipelines } from '../../pipeline/pipelines.ts'
import type { ProviderFactory } from '../../providers/create.ts'
import type { Providers } from '../../providers/providers.ts'
import type { Spend } from '../spend.ts'

/**
 * DESIGN — settings in force
 *
 *   configuration ──► + stored changes ──► caps, model names, pipelines, providers of this process
 *                           ▲
 *      database: version ───┘   read at the start, after each change of this process, on a message of another,
 *                               and once a second
 *
 * Nothing that is stored can prevent a start or a request: what no longer fits is ignored, with its reason in the log and
 * on the page, and the configuration's own value is in force.
 */
const POLL_EVERY_MS = 1000
const TOPIC = 'settings'

/** Dependencies of the settings in use. */
export interface SettingsParts {
  readonly loaded: LoadedConfig
  readonly store: SettingStore
  readonly spend: Pick<Spend, 'setCaps'>
  readonly providers: Providers
  readonly factory: ProviderFactory
  readonly pipelines: Pipelines
  /** Channel to the other processes. */
  readonly channel: Channel | undefined
  readonly log: Log
}

/** State of a stored key of a provider. */
export interface StoredKey extends ProviderKey {
  readonly provider: string
  /** False when it cannot be decrypted, or the configuration has a key of its own. */
  readonly isInForce: boolean
  readonly reason?: string
}

/** Returns the place of a provider's key, to which its ciphertext is bound. */
export function placeOfKey(provider: string): string {
  return `provider-key:${provider}`
}

/** The configuration with the stored changes, in force in this process. */
export class SettingsInUse {
  readonly #parts: SettingsParts
  readonly #poll: Interval | undefined
  #config: Config
  #version = 0
  #overrides: readonly Override[] = []
  #ignored: readonly IgnoredOverride[] = []
  #keys: readonly StoredKey[] = []
  #queue: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor(parts: SettingsParts) {
    this.#parts = parts
    this.#config = parts.loaded.config
    if (!this.isEditable) return
    const onError = () => {}
    this.#poll = startInterval(() => this.refresh(), { everyMs: POLL_EVERY_MS, onError })
    parts.channel?.subscribe(TOPIC, () => void this.refresh())
  }

  get config(): Config {
    return this.#config
  }

  get isEditable(): boolean {
    return this.#parts.loaded.config.settings.editable
  }

  /** Stored values that are in force. */
  get overrides(): readonly Override[] {
    const ignored = new Set(this.#ignored.map(({ name }) => name))
    return this.#overrides.filter(({ name }) => !ignored.has(name))
  }

  get ignored(): readonly IgnoredOverride[] {
    return this.#ignored
  }

  get keys(): readonly StoredKey[] {
    return this.#keys
  }

  /** Applies changes that were stored since the last time. Never rejects. */
  refresh(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#refresh())
    return this.#queue
  }

  /** Applies a change of this process, and announces it to the others. */
  async changed(): Promise<void> {
    await this.refresh()
    await this.#parts.channel?.publish(TOPIC, '').catch(() => 0)
  }

  async close(): Promise<void> {
    await this.#poll?.close()
    await this.#queue
  }

  async #refresh(): Promise<void> {
    if (!this.isEditable) return
    const { store, log } = this.#parts
    try {
      if ((await store.version()) === this.#version) return
      await this.#apply(await store.read())
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) log.warn({ reason: messageOf(error) }, 'settings.unread')
      this.#isFailing = true
    }
  }

  async #apply({ version, values, keys }: StoredSettings): Promise<void> {
    const { loaded, spend, providers, factory, pipelines, log } = this.#parts
    this.#overrides = values.flatMap(({ name, value }) => parsedRow(name, value))
    this.#keys = keys.map((key) => this.#open(key))
    const { config, ignored } = withOverrides(loaded, this.#overrides)
    const dropped = [...ignored]
    let next = this.#keys.filter(({ isInForce }) => isInForce).reduce(withStoredKey, config)
    const drop = (section: 'models' | 'pipeline', error: unknown) => {
      const names = this.#overrides.map(({ name }) => name).filter((name) => name.startsWith(`${section}.`))
      dropped.push(...names.map((name) => ({ name, reason: messageOf(error) })))
      next = { ...next, [section]: loaded.config[section] }
    }
    const adopted = await factory.create(next).catch((error: unknown) => {
      drop('models', error)
      return factory.create(next)
    })
    await providers.adopt(adopted)
    try {
      pipelines.adopt(next.pipeline)
    } catch (error) {
      drop('pipeline', error)
      pipelines.adopt(next.pipeline)
    }
    spend.setCaps(next.costs)
    this.#config = next
    this.#ignored = dropped
    this.#version = version
    for (const { name, reason } of dropped) log.warn({ name, reason }, 'settings.value-ignored')
    log.info({ version }, 'settings.in-force')
  }

  #open({ provider, sealed }: SealedKey): StoredKey {
    const none = { provider, apiKey: '', isInForce: false }
    try {
      const { config } = this.#parts.loaded
      const key = readSecretsKey(config)
      const text = key && unseal(key, sealed, placeOfKey(provider))
      if (text === undefined) return { ...none, reason: UNREADABLE }
      // Safe: its tag proves that a gateway has written it.
      const opened: ProviderKey = JSON.parse(text)
      const target = keyedProvider(provider, config)
      withProviderKey(config, target, opened)
      const isInForce = !hasConfiguredKey(config, target)
      return {
        provider,
        ...opened,
        isInForce,
        ...(!isInForce && { reason: 'The configuration has a key of its own.' }),
      }
    } catch (error) {
      return { ...none, reason: messageOf(error) }
    }
  }
}

const UNREADABLE =
  'It was encrypted with another SVC_SECRETS_KEY, or another `secrets-key` file: enter the key again, or restore that secret.'

function withStoredKey(config: Config, { provider, apiKey, baseUrl }: StoredKey): Config {
  return withProviderKey(config, keyedProvider(provider, config), { apiKey, baseUrl })
}

function parsedRow(name: string, value: string | null): Override[] {
  if (value === null || name.startsWith('providers.')) return []
  try {
    return [{ name, value: JSON.parse(value) }]
  } catch {
    return []
  }
}

import type { SettingChange } from '../../../core/ports/settings.ts'

/** Author of a change. */
export interface Author {
  /** `user:<id>`, or `operator` in local mode. */
  readonly actor: string
  readonly accountId: string
}

/** New value of an option; `null` restores the configuration's own. */
export interface WantedSetting {
  readonly name: string
  readonly value: unknown
}

/** Key of a provider to test or store. */
export interface WantedKey {
  readonly provider: string
  readonly apiKey: string
  readonly baseUrl?: string | undefined
}

/** Changes settings and keys of providers, in force on the next request. Its methods throw `invalid_request` for what cannot be stored. */
export interface SettingsControl {
  /** Returns the effective configuration. */
  inForce(): object
  changes(): Promise<readonly SettingChange[]>
  /** Returns the effects of a change without storing it. */
  preview(wanted: WantedSetting): Promise<object>
  change(wanted: WantedSetting, author: Author): Promise<SettingChange>
  /** Restores the value before a change; the change must be the last one of its option. */
  undo(seq: number, author: Author): Promise<SettingChange>
  /** Lists providers that take a key, with the last four characters of a stored one. */
  providers(): readonly object[]
  /** Returns false while no provider but the demo has a credential or an address of its own. */
  hasProvider(): boolean
  /** Calls the provider with the key. Throws `invalid_request` with the reason of a failure. */
  testKey(key: WantedKey): Promise<{ readonly models: number }>
  /** Stores a key that was tested. */
  storeKey(key: WantedKey, author: Author): Promise<void>
  removeKey(provider: string, author: Author): Promise<void>
}

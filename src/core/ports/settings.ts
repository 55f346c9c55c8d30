/** A change of a setting or of a provider's key, made in the dashboard. Holds no secret. */
export interface SettingChange {
  /** Number of the change, from 1; the version of the settings after it. */
  readonly seq: number
  readonly atMs: number
  /** `user:<id>`, `operator`. */
  readonly actor: string
  /** Dotted name of the option. */
  readonly name: string
  /** JSON of the value; `null`: the configuration's own value is in force again. */
  readonly value: string | null
  readonly previous: string | null
}

/** Change to store. */
export interface NewSettingChange extends Pick<SettingChange, 'actor' | 'name' | 'value'> {
  /** The account in the audit log. */
  readonly accountId: string
  /** Refuses the change unless this is the number of the name's latest one. Unset: no such condition. */
  readonly onlyAfter?: number
}

/** Encrypted key of a provider. */
export interface SealedKey {
  readonly provider: string
  /** Ciphertext with its nonce and tag. */
  readonly sealed: string
}

/** All settings of the dashboard at a version. */
export interface StoredSettings {
  readonly version: number
  readonly values: readonly Pick<SettingChange, 'name' | 'value'>[]
  readonly keys: readonly SealedKey[]
}

/** Stores settings for all processes of the gateway. Methods reject with `service_unavailable` while the database does not respond. */
export interface SettingStore {
  /** Returns the number of the last change; 0 before the first. */
  version(): Promise<number>
  read(): Promise<StoredSettings>
  /** Lists the last changes, newest first. */
  list(): Promise<readonly SettingChange[]>
  /** Stores a change with its audit entry; `undefined`: the name has been changed after `onlyAfter`. */
  change(change: NewSettingChange): Promise<SettingChange | undefined>
  /** Stores a key (`sealed`) or deletes it (`null`), with the change that records it. */
  changeKey(change: NewSettingChange & { provider: string; sealed: string | null }): Promise<SettingChange>
}

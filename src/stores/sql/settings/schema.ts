/** The tables of settings that are changed in the dashboard. */
export interface SettingTables {
  setting_version: { id: number; seq: number }
  setting_change: SettingChangeTable
  provider_key: ProviderKeyTable
}

/** A change; the last one of a name is in force. */
export interface SettingChangeTable {
  /** The version of the settings after it. */
  seq: number
  at_ms: number
  actor: string
  name: string
  /** JSON; `null`: the configuration's own value. Never a secret. */
  value: string | null
  previous: string | null
}

/** A provider's key, encrypted. */
export interface ProviderKeyTable {
  provider: string
  sealed: string
}

import { texts } from '../engine/columns.ts'

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

/** Creates the tables of settings that are changed in the dashboard. */
export const SETTING_TABLES_SQL = `
create table setting_version (
  id bigint primary key not null check (id = 1),
  seq bigint not null
);
insert into setting_version (id, seq) values (1, 0);
create table setting_change (
  seq bigint primary key not null,
  at_ms bigint not null,
  ${texts('actor', 'name')},
  value text,
  previous text
);
create index setting_change_by_name on setting_change (name, seq);
create table provider_key (
  provider text primary key not null,
  sealed text not null
);
`

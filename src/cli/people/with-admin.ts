import { createKeyHash } from '../../accounts/keys/key-hash.ts'
import { ManagedKeys } from '../../accounts/keys/managed-keys.ts'
import { People } from '../../accounts/people/people.ts'
import { Tags } from '../../accounts/people/tags.ts'
import { Teams } from '../../accounts/people/teams.ts'
import { loadConfig } from '../../config/load.ts'
import { createKeyStore } from '../../stores/sql/accounts/key-store.ts'
import { createPeopleStore } from '../../stores/sql/accounts/people-store.ts'
import { withStore } from '../with-store.ts'

/** Actor of commands in the audit log. */
export const OPERATOR = 'operator'

/** Rows of a command's list. */
export const MOST_LISTED = 500

/** Administration of people, teams, keys and tags. */
export interface Admin {
  readonly people: People
  readonly teams: Teams
  readonly keys: ManagedKeys
  readonly tags: Tags
}

/** Opens the administration on the configuration's database for a command, while the gateway may be using it. */
export async function withAdmin<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> {
  const { keys, database_url: databaseUrl } = loadConfig(process.env).config
  return withStore(async (store) => {
    // With SQLite, telemetry has a file of its own: figures are then those of caps.
    const people = createPeopleStore({ accounts: store, telemetry: databaseUrl === undefined ? undefined : store })
    const common = {
      store: people,
      clock: { nowMs: () => Date.now() },
      lastUsed: { latest: (_: string, writtenAtMs: number | null) => writtenAtMs },
    }
    const managed = new ManagedKeys({
      ...common,
      people,
      store: createKeyStore(store),
      hashKey: createKeyHash(keys.pepper),
      label: keys.label,
      most: keys.per_account,
      // Commands set no pipelines.
      assertPipeline: () => {},
    })
    return work({ people: new People(common), teams: new Teams(common), tags: new Tags(common), keys: managed })
  })
}

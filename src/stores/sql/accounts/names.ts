import { type Kysely, sql } from 'kysely'
import type { FoundName, Named, NameQuery } from '../../../core/ports/names.ts'
import type { Reach } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/**
 * Finds names of keys, people and teams in one statement. In a reach: names of its own keys and those of its teams, of the
 * owners of these keys and the members of these teams, of its teams, and of those that it belongs to.
 */
export const findNames: Command<NameQuery, FoundName[]> = async (db, { ids, reach }) => {
  let keys = named(db, 'key', ids.key)
  let people = named(db, 'person', ids.person)
  let teams = named(db, 'team', ids.team)
  if (reach !== undefined) {
    const { ownKeys, ledKeys, led, members, joined } = partsOf(db, reach)
    keys = keys.where((is) => is.or([is('id', 'in', ownKeys.select('id')), is('id', 'in', ledKeys.select('id'))]))
    people = people.where((is) =>
      is.or([
        is('id', '=', reach.accountId),
        is('id', 'in', members.select('account_id')),
        is('id', 'in', ledKeys.select('account_id')),
      ]),
    )
    teams = teams.where((is) =>
      is.or([is('id', 'in', led), is('id', 'in', joined.select('team_id')), is('id', 'in', ownKeys.select('team_id'))]),
    )
  }
  return keys.unionAll(people).unionAll(teams).execute()
}

const TABLES = { key: 'api_key', person: 'account', team: 'team' } as const

function named(db: Kysely<Database>, of: Named, ids: readonly string[]) {
  return db
    .selectFrom(TABLES[of])
    .select([sql<Named>`${sql.lit(of)}`.as('of'), 'id', sql<string>`name`.as('name')])
    .where('id', 'in', ['', ...ids])
    .where('name', 'is not', null)
}

function partsOf(db: Kysely<Database>, { accountId, teamIds }: Reach) {
  const led = ['', ...teamIds]
  return {
    led,
    ownKeys: db.selectFrom('api_key').where('account_id', '=', accountId),
    ledKeys: db.selectFrom('api_key').where('team_id', 'in', led),
    members: db.selectFrom('team_member').where('team_id', 'in', led),
    joined: db.selectFrom('team_member').where('account_id', '=', accountId),
  }
}

import type { PeopleStore } from '../../../core/ports/people.ts'
import type { SqlStore } from '../store.ts'

/** Stores of people; `telemetry` is `undefined` where no rows are kept. */
export interface PeopleStores {
  readonly accounts: Pick<SqlStore, 'run'>
  readonly telemetry: Pick<SqlStore, 'run'> | undefined
}

/** Creates the store of people, teams and tags in the database, with figures from telemetry. */
export function createPeopleStore({ accounts, telemetry }: PeopleStores): PeopleStore {
  return {
    people: (page) => accounts.run('people.list', page),
    createPerson: (person) => accounts.run('people.create', person),
    changePerson: (change) => accounts.run('people.change', change),
    suspend: (change) => accounts.run('account.suspend', change),
    memberships: (of) => accounts.run('people.memberships', of),
    teams: (page) => accounts.run('teams.list', page),
    createTeam: (team) => accounts.run('teams.create', team),
    changeTeam: (change) => accounts.run('teams.change', change),
    setMembership: (change) => accounts.run('teams.set-member', change),
    tags: () => accounts.run('tags.list', {}),
    setTag: (change) => accounts.run('tags.set', change),
    keys: (page) => accounts.run('keys.list-managed', page),
    keyFacts: (of) => accounts.run('keys.facts', of),
    audit: (page) => accounts.run('audit.recent', page),
    spend: (of) => accounts.run('spend.of-scopes', of),
    keySpend: async (of) => (await telemetry?.run('telemetry.key-spend', of)) ?? [],
    refusals: async (of) => (await telemetry?.run('telemetry.refusals', of)) ?? [],
  }
}

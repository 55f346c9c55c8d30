import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type {
  AccountRole,
  KeyFacts,
  MemberRole,
  Membership,
  PeoplePage,
  PeopleStore,
  Reach,
  SharedLimits,
  StoredPerson,
} from '../../core/ports/people.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import type { RecentRefusal } from '../../core/telemetry/recent.ts'
import { assertChange, changedFields, limitsToJson, noteOf, toOptionalTime, toTime } from '../keys/key-records.ts'
import type { LastUsed } from '../keys/last-used.ts'
import { newPersonFields, personFields } from './fields.ts'
import { type Figures, keysBy, readFigures } from './figures.ts'

/** Dependencies of the administration of people, teams and keys. */
export interface PeopleOptions {
  readonly store: PeopleStore
  readonly lastUsed: Pick<LastUsed, 'latest'>
  readonly clock: Clock
}

/** A person as shown to operators and leads. */
export interface PersonRecord {
  readonly id: string
  readonly name: string | null
  readonly email: string | null
  readonly role: AccountRole
  readonly limits: SharedLimits | null
  readonly createdAt: string
  readonly suspendedAt: string | null
  readonly lastSeenAt: string | null
}

/** A person in a list. */
export interface ListedPerson extends PersonRecord, Figures {
  readonly teams: readonly { readonly id: string; readonly name: string; readonly role: MemberRole }[]
  /** Number of keys that are not revoked. */
  readonly keys: number
  readonly lastUsedAt: string | null
}

/** Administration of people. Actors are `user:<id>` or `operator`. */
export class People {
  readonly #options: PeopleOptions

  constructor(options: PeopleOptions) {
    this.#options = options
  }

  /** Lists people with their teams, keys, spend and refusals. */
  async list(page: PeoplePage): Promise<ListedPerson[]> {
    const { store, clock } = this.#options
    const people = await store.people(page)
    const accountIds = people.map(({ id }) => id)
    const [allMemberships, allFacts] = await Promise.all([
      store.memberships({ accountIds }),
      store.keyFacts({ accountIds }),
    ])
    const isSeen = seenWithin(page.reach)
    const memberships = allMemberships.filter(isSeen)
    const facts = allFacts.filter(isSeen)
    const subjects = {
      ids: accountIds,
      // A lead sees what a person spends in the team: the person's own window has the spend in all teams.
      scopeOf: (id: string) => (isSeen({ accountId: id, teamId: null }) ? `user:${id}` : ''),
      keysOf: keysBy(facts, 'accountId'),
      refusedOf: ({ userId, teamId }: RecentRefusal) => (isSeen({ accountId: userId, teamId }) ? [userId] : []),
    }
    const figuresOf = await readFigures(store, subjects, clock)
    return people.map((person) => ({
      ...recordOf(person),
      ...this.#related(person.id, memberships, facts),
      ...figuresOf(person.id),
    }))
  }

  #related(id: string, memberships: readonly Membership[], facts: readonly KeyFacts[]) {
    const own = facts.filter(({ accountId }) => accountId === id)
    const teams = memberships.filter(({ accountId }) => accountId === id)
    return {
      teams: teams.map(({ teamId, teamName, role }) => ({ id: teamId, name: teamName, role })),
      keys: own.filter(({ isActive }) => isActive === 1).length,
      lastUsedAt: lastUseOf(own, this.#options.lastUsed),
    }
  }

  /** Returns a person. Throws `not_found`. */
  async show(id: string): Promise<ListedPerson> {
    const [person] = await this.list({ id, limit: 1 })
    return person ?? missing(id)
  }

  /** Creates a person before the first sign-in. Throws `invalid_request`. */
  async create(actor: string, body: unknown): Promise<PersonRecord> {
    const { id, limits, ...fields } = parseFields(newPersonFields, body)
    const details = changedFields({ ...fields, limits })
    const audit = noteOf('person.created', { actor, accountId: id, subject: id, details })
    const person = { id, ...fields, limits: limits === undefined ? undefined : limitsToJson(limits), audit }
    return recordOf(await this.#options.store.createPerson(person))
  }

  /** Changes a person, with effect from the next request on. Throws `invalid_request`, `not_found`. */
  async change(actor: string, id: string, body: unknown): Promise<PersonRecord> {
    const { limits, ...fields } = parseFields(personFields, body)
    assertChange({ ...fields, limits }, ['name', 'email', 'role', 'limits'])
    // A role is no text of a user's own, and its change is what an auditor looks for.
    const details = { ...changedFields({ ...fields, limits }), ...(fields.role && { role: fields.role }) }
    const audit = noteOf('person.changed', { actor, accountId: id, subject: id, details })
    const change = { id, ...fields, limits: limits === undefined ? undefined : limitsToJson(limits), audit }
    return recordOf((await this.#options.store.changePerson(change)) ?? missing(id))
  }

  /** Suspends or resumes a person: keys and sessions are refused from their next request on. Throws `not_found`. */
  async suspend(actor: string, id: string, isSuspended: boolean): Promise<void> {
    const action = isSuspended ? 'account.suspended' : 'account.resumed'
    const audit = noteOf(action, { actor, accountId: id, subject: id })
    if (!(await this.#options.store.suspend({ id, isSuspended, audit }))) missing(id)
  }
}

/** Owner of something that a viewer with a bounded reach may see. */
interface Seen {
  readonly accountId: string | null
  readonly teamId: string | null
}

/** Returns the test for what lies within a reach: one's own, and what belongs to the teams; all without a reach. */
function seenWithin(reach: Reach | undefined): (seen: Seen) => boolean {
  if (reach === undefined) return () => true
  return ({ accountId, teamId }) => accountId === reach.accountId || (teamId !== null && reach.teamIds.includes(teamId))
}

/** Returns the last use of any of these keys. */
export function lastUseOf(keys: readonly KeyFacts[], lastUsed: Pick<LastUsed, 'latest'>): string | null {
  const latest = keys.map(({ id, lastUsedAtMs }) => lastUsed.latest(id, lastUsedAtMs) ?? 0)
  const lastMs = latest.reduce((last, each) => Math.max(last, each), 0)
  return lastMs === 0 ? null : toTime(lastMs)
}

function missing(id: string): never {
  throw new GatewayError('not_found', `There is no account \`${id}\`.`)
}

function recordOf({ limits, createdAtMs, suspendedAtMs, lastSeenAtMs, ...person }: StoredPerson): PersonRecord {
  return {
    ...person,
    // Safe: they were checked when they were set.
    limits: limits === null ? null : (JSON.parse(limits) as SharedLimits),
    createdAt: toTime(createdAtMs),
    suspendedAt: toOptionalTime(suspendedAtMs),
    lastSeenAt: toOptionalTime(lastSeenAtMs),
  }
}

import { GatewayError } from '../../core/errors.ts'
import type { MemberRole, MemberSource, SharedLimits, StoredTeam, TeamPage } from '../../core/ports/people.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import { createTeamId } from '../keys/key-format.ts'
import { assertChange, changedFields, limitsToJson, noteOf, toOptionalTime, toTime } from '../keys/key-records.ts'
import { memberFields, newTeamFields, teamFields } from './fields.ts'
import { type Figures, keysBy, readFigures } from './figures.ts'
import { lastUseOf, type PeopleOptions } from './people.ts'

/** A team as shown. */
export interface TeamRecord {
  readonly id: string
  readonly name: string
  readonly limits: SharedLimits | null
  readonly createdAt: string
  readonly archivedAt: string | null
}

/** A member of a team. */
export interface MemberRecord {
  readonly id: string
  readonly name: string | null
  readonly role: MemberRole
  /** `groups`: derived from the identity provider, which may set it again. */
  readonly source: MemberSource
}

/** A team in a list. */
export interface ListedTeam extends TeamRecord, Figures {
  readonly members: readonly MemberRecord[]
  /** Number of keys that are not revoked. */
  readonly keys: number
  readonly lastUsedAt: string | null
}

/** A membership to set. */
interface SetMember {
  readonly teamId: string
  readonly accountId: string
  /** True for a change by a lead: of an existing membership alone, whose source stays. Only operators and groups add people. */
  readonly isByLead?: boolean | undefined
}

/** Administration of teams. Actors are `user:<id>` or `operator`. */
export class Teams {
  readonly #options: PeopleOptions

  constructor(options: PeopleOptions) {
    this.#options = options
  }

  /** Lists teams with their members, keys, spend and refusals. */
  async list(page: TeamPage): Promise<ListedTeam[]> {
    const { store, clock, lastUsed } = this.#options
    const teams = await store.teams(page)
    const teamIds = teams.map(({ id }) => id)
    const [memberships, facts] = await Promise.all([store.memberships({ teamIds }), store.keyFacts({ teamIds })])
    const subjects = {
      ids: teamIds,
      scopeOf: (id: string) => `team:${id}`,
      keysOf: keysBy(facts, 'teamId'),
      refusedOf: ({ teamId }: { teamId: string | null }) => [teamId],
    }
    const figuresOf = await readFigures(store, subjects, clock)
    return teams.map((team) => {
      const keys = facts.filter(({ teamId }) => teamId === team.id)
      const members = memberships.filter(({ teamId }) => teamId === team.id)
      return {
        ...recordOf(team),
        members: members.map(({ accountId, personName, role, source }) => ({
          id: accountId,
          name: personName,
          role,
          source,
        })),
        keys: keys.filter(({ isActive }) => isActive === 1).length,
        lastUsedAt: lastUseOf(keys, lastUsed),
        ...figuresOf(team.id),
      }
    })
  }

  /** Returns a team. Throws `not_found`. */
  async show(id: string): Promise<ListedTeam> {
    const [team] = await this.list({ ids: [id], limit: 1 })
    return team ?? missing(id)
  }

  /** Creates a team. Throws `invalid_request`. */
  async create(actor: string, body: unknown): Promise<TeamRecord> {
    const fields = parseFields(newTeamFields, body)
    const id = createTeamId()
    const audit = noteOf('team.created', { actor, accountId: id, subject: id, details: changedFields(fields) })
    const team = { id, name: fields.name, limits: limitsToJson(fields.limits ?? null), audit }
    return recordOf(await this.#options.store.createTeam(team))
  }

  /** Changes or archives a team, with effect from the next request on. Throws `invalid_request`, `not_found`. */
  async change(actor: string, id: string, body: unknown): Promise<TeamRecord> {
    const { archived: isArchived, ...fields } = parseFields(teamFields, body)
    assertChange({ ...fields, isArchived }, ['name', 'limits', 'archived'])
    const details = { ...changedFields(fields), ...(isArchived !== undefined && { archived: isArchived }) }
    const audit = noteOf('team.changed', { actor, accountId: id, subject: id, details })
    const { name, limits } = fields
    const change = { id, name, limits: limits === undefined ? undefined : limitsToJson(limits), isArchived, audit }
    return recordOf((await this.#options.store.changeTeam(change)) ?? missing(id))
  }

  /** Puts a person into a team, or changes the role there. Throws `invalid_request`, `not_found`. */
  async setMember(actor: string, { isByLead, ...member }: SetMember, body: unknown): Promise<MemberRole> {
    const { role } = parseFields(memberFields, body)
    const details = { person: member.accountId, role }
    const audit = noteOf('team.member-set', { actor, accountId: member.accountId, subject: member.teamId, details })
    const change = { ...member, role, isByLead, audit }
    if (!(await this.#options.store.setMembership(change))) missing(member.teamId)
    return role
  }

  /** Takes a person out of a team, and suspends the person's keys of it. Throws `not_found`. */
  async removeMember(actor: string, member: { teamId: string; accountId: string }): Promise<void> {
    const details = { person: member.accountId }
    const audit = noteOf('team.member-removed', { actor, accountId: member.accountId, subject: member.teamId, details })
    const change = { ...member, role: null, audit }
    if (!(await this.#options.store.setMembership(change))) missing(member.teamId)
  }
}

function missing(id: string): never {
  throw new GatewayError('not_found', `There is no team \`${id}\`, or no such person in it.`)
}

function recordOf({ limits, createdAtMs, archivedAtMs, ...team }: StoredTeam): TeamRecord {
  return {
    ...team,
    // Safe: they were checked when they were set.
    limits: limits === null ? null : (JSON.parse(limits) as SharedLimits),
    createdAt: toTime(createdAtMs),
    archivedAt: toOptionalTime(archivedAtMs),
  }
}

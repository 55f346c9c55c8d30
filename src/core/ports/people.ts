import type { KeySpend, RecentRefusal } from '../telemetry/recent.ts'
import type { AuditNote, AuditRecord } from './audit.ts'
import type { KeyLimits, StoredKey } from './keys.ts'

/** Role of an account as stored, besides the teams that it leads. */
export type AccountRole = 'viewer' | 'member' | 'operator'

/** Role of a signed-in user. A `lead` leads at least one team. */
export type Role = AccountRole | 'lead'

/** Role of a person in a team. */
export type MemberRole = 'lead' | 'member'

/** Origin of a membership: set by hand, or derived from the identity provider's groups. */
export type MemberSource = 'set' | 'groups'

/** Limits that a person, a team or a tag can have: of all its requests together. */
export type SharedLimits = Pick<KeyLimits, 'costPerDay' | 'costPerMonth' | 'requestsPerMinute' | 'models' | 'modules'>

/** Properties of an account that a session needs. */
export interface AccountStanding {
  readonly tier: string
  readonly role: AccountRole
  readonly suspendedAtMs: number | null
  /** Ids of the teams that it leads, archived ones excluded. */
  readonly leads: readonly string[]
}

/** Ids of a user's own keys, and of all keys of the teams that the user leads; revoked ones included. */
export interface KeysInReach {
  readonly own: readonly string[]
  readonly led: readonly string[]
}

/** A person, as stored. */
export interface StoredPerson {
  readonly id: string
  readonly name: string | null
  readonly email: string | null
  readonly role: AccountRole
  /** JSON of its `SharedLimits`. */
  readonly limits: string | null
  readonly createdAtMs: number
  readonly suspendedAtMs: number | null
  readonly lastSeenAtMs: number | null
}

/** A team, as stored. */
export interface StoredTeam {
  readonly id: string
  readonly name: string
  /** JSON of its `SharedLimits`. */
  readonly limits: string | null
  readonly createdAtMs: number
  readonly archivedAtMs: number | null
}

/** A tag with its limits, as stored. */
export interface StoredTag {
  readonly name: string
  /** JSON of its `SharedLimits`. */
  readonly limits: string | null
  readonly createdAtMs: number
}

/** A person in a team, with the names of both. */
export interface Membership {
  readonly teamId: string
  readonly teamName: string
  readonly accountId: string
  readonly personName: string | null
  readonly role: MemberRole
  readonly source: MemberSource
}

/** A page of a list. */
export interface AdminPage {
  /** Part of an id, a name or an e-mail address, in any case. */
  readonly search?: string | undefined
  /** Id of the last row of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Changes of a person; fields that are left out stay. */
export interface PersonChange {
  readonly id: string
  readonly name?: string | null | undefined
  readonly email?: string | null | undefined
  readonly role?: AccountRole | undefined
  readonly limits?: string | null | undefined
  readonly audit: AuditNote
}

/** Changes of a team; fields that are left out stay. */
export interface TeamChange {
  readonly id: string
  readonly name?: string | undefined
  readonly limits?: string | null | undefined
  readonly isArchived?: boolean | undefined
  readonly audit: AuditNote
}

/** Membership to set; `role: null` removes it and suspends the person's keys of the team. */
export interface MembershipChange {
  readonly teamId: string
  readonly accountId: string
  readonly role: MemberRole | null
  /** True for a change by a lead: of an existing membership alone, whose source stays. Only operators and groups add people. */
  readonly isByLead?: boolean | undefined
  readonly audit: AuditNote
}

/** Spent and held money of a scope in a window, in nano-USD. */
export interface ScopeSpend {
  readonly scope: string
  readonly window: string
  readonly nanoUsd: number
}

/** Bounds of what a user may see: the account, and these teams. */
export interface Reach {
  readonly accountId: string
  readonly teamIds: readonly string[]
}

/** A page of people; unset filters match all. */
export interface PeoplePage extends AdminPage {
  readonly id?: string | undefined
  /** Only this person, and members of these teams. */
  readonly reach?: Reach | undefined
}

/** A page of teams; unset filters match all. */
export interface TeamPage extends AdminPage {
  readonly ids?: readonly string[] | undefined
  /** Only teams of this person. */
  readonly accountId?: string | undefined
}

/** A page of keys of several accounts; unset filters match all. */
export interface ManagedKeyPage extends AdminPage {
  readonly id?: string | undefined
  readonly accountId?: string | undefined
  readonly teamId?: string | undefined
  readonly reach?: Reach | undefined
  readonly isRevoked?: boolean | undefined
}

/** A key with the names of its owner and team. */
export interface ManagedKey extends StoredKey {
  readonly personName: string | null
  readonly teamName: string | null
}

/** Facts of a key, for sums of people and teams. */
export interface KeyFacts {
  readonly id: string
  readonly accountId: string
  readonly teamId: string | null
  readonly lastUsedAtMs: number | null
  /** 0 for a revoked key, else 1. */
  readonly isActive: number
}

/** A team to create. */
export interface NewTeam {
  readonly id: string
  readonly name: string
  readonly limits: string | null
  readonly audit: AuditNote
}

/** Limits of a tag to set; `limits: null` removes them. */
export interface TagChange {
  readonly name: string
  readonly limits: string | null
  readonly audit: AuditNote
}

/** A page of the newest audit entries. */
export interface RecentAudit {
  /** Only entries of this account. */
  readonly accountId?: string | undefined
  /** Id of the last entry seen. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Some people, or some teams. */
export interface Subjects {
  readonly accountIds?: readonly string[]
  readonly teamIds?: readonly string[]
}

/**
 * Keeps people, teams and tags, each change together with its audit entry, and lists keys of all accounts. Every method
 * rejects with `service_unavailable` while the database cannot be reached, and with `invalid_request` where a bound or a
 * unique name is violated.
 */
export interface PeopleStore {
  people(page: PeoplePage): Promise<StoredPerson[]>
  createPerson(person: PersonChange): Promise<StoredPerson>
  changePerson(change: PersonChange): Promise<StoredPerson | undefined>
  /** Resolves with whether there is such a person. */
  suspend(change: { readonly id: string; readonly isSuspended: boolean; readonly audit: AuditNote }): Promise<boolean>
  /** Lists memberships, by team and person, at most 10,000. */
  memberships(of: Subjects): Promise<Membership[]>
  /** Lists teams by name, archived ones last. */
  teams(page: TeamPage): Promise<StoredTeam[]>
  createTeam(team: NewTeam): Promise<StoredTeam>
  changeTeam(change: TeamChange): Promise<StoredTeam | undefined>
  /** Resolves with false when there is no such team, person or membership. */
  setMembership(change: MembershipChange): Promise<boolean>
  tags(): Promise<StoredTag[]>
  setTag(change: TagChange): Promise<void>
  /** Lists keys, newest first. */
  keys(page: ManagedKeyPage): Promise<ManagedKey[]>
  /** Lists the keys of people or teams, at most 10,000. */
  keyFacts(of: Subjects): Promise<KeyFacts[]>
  /** Lists audit entries, newest first. */
  audit(page: RecentAudit): Promise<AuditRecord[]>
  /** Reads what is spent and held in windows. */
  spend(of: { readonly scopes: readonly string[]; readonly windows: readonly string[] }): Promise<ScopeSpend[]>
  /** Reads the recorded spend of keys; none where telemetry is off. */
  keySpend(of: { scopes: readonly string[]; monthMs: number; dayMs: number }): Promise<readonly KeySpend[]>
  /** Lists the newest refusals since a moment, at most 5,000; none where telemetry is off. */
  refusals(of: { readonly sinceMs: number }): Promise<readonly RecentRefusal[]>
}

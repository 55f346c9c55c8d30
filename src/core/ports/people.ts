import type { KeyLimits } from './keys.ts'

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

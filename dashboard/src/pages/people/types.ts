/** Limits of a person, a team or a tag; a key may have more. */
export type Limits = Readonly<Record<string, number | readonly string[] | undefined>>

/** Spend and refusals, in UTC. */
export interface Figures {
  readonly spend: { readonly day: number; readonly month: number }
  readonly refused: { readonly count: number; readonly reason: string | null; readonly at: string | null }
}

/** A person, as `/v1/admin/people` lists it. */
export interface Person extends Figures {
  readonly id: string
  readonly name: string | null
  readonly email: string | null
  readonly role: string
  readonly limits: Limits | null
  readonly suspendedAt: string | null
  readonly lastSeenAt: string | null
  readonly lastUsedAt: string | null
  readonly teams: readonly { readonly id: string; readonly name: string; readonly role: string }[]
  readonly keys: number
}

/** A team, as `/v1/admin/teams` lists it. */
export interface Team extends Figures {
  readonly id: string
  readonly name: string
  readonly limits: Limits | null
  readonly archivedAt: string | null
  readonly lastUsedAt: string | null
  readonly keys: number
  /** Left out for those who are only members. */
  readonly members?: readonly { readonly id: string; readonly name: string | null; readonly role: string }[]
}

/** A key, as `/v1/admin/keys` lists it. */
export interface ManagedKey extends Figures {
  readonly id: string
  readonly prefix: string
  readonly name?: string
  readonly limits?: Limits
  readonly teamId?: string
  readonly teamName: string | null
  readonly tags?: readonly string[]
  readonly expiresAt?: string
  readonly suspendedAt?: string
  readonly previousUntil?: string
  readonly personId: string
  readonly personName: string | null
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}

/** A tag with limits, as `/v1/admin/tags` lists it. */
export interface Tag extends Figures {
  readonly name: string
  readonly limits: Limits | null
}

/** Page of a list. */
export interface ListReply<Row> {
  readonly data: readonly Row[]
  readonly has_more: boolean
}

import type { AuditNote } from './audit.ts'

/** Limits that a key's owner has set on it, in addition to the operator's. */
export interface KeyLimits {
  /** Most of one request's cost, in USD. */
  readonly costPerRequest?: number | undefined
  /** Most in a UTC day, in USD. */
  readonly costPerDay?: number | undefined
  /** Most in a UTC month, in USD. */
  readonly costPerMonth?: number | undefined
  /** Most of a conversation, in USD. */
  readonly costPerConversation?: number | undefined
  /** Most of each agent of a run, in USD. */
  readonly costPerAgent?: number | undefined
  /** Most of a run, a conversation with those of its sub-agents, in USD. */
  readonly costPerRun?: number | undefined
  readonly turnsPerConversation?: number | undefined
  /** Most input and output tokens of a conversation, as billed. */
  readonly tokensPerConversation?: number | undefined
  /** Longest time of a conversation from its first request. */
  readonly secondsPerConversation?: number | undefined
  readonly requestsPerMinute?: number | undefined
  /** The only models that it may use; a `*` at the end matches any rest. */
  readonly models?: readonly string[] | undefined
  /** The only plugins that its requests may name. */
  readonly modules?: readonly string[] | undefined
}

/** A key in the database, without its hash. */
export interface StoredKey {
  readonly id: string
  readonly prefix: string
  readonly name: string | null
  readonly pipelineConfig: string | null
  /** JSON of its `KeyLimits`. */
  readonly limits: string | null
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  readonly revokedAtMs: number | null
  readonly accountId: string
  readonly teamId: string | null
  /** JSON list. */
  readonly tags: string | null
  readonly suspendedAtMs: number | null
  readonly expiresAtMs: number | null
  /** End of the overlap of its last rotation. */
  readonly previousUntilMs: number | null
  /** `user:<id>` or `operator`; `null` for old keys. */
  readonly createdBy: string | null
  /** Actor that set the limits, when not the owner: the owner cannot change them. */
  readonly limitsBy: string | null
}

/** Fields that managers of keys set, besides their owners. */
export interface ManagedFields {
  readonly teamId?: string | null | undefined
  readonly tags?: string | null | undefined
  readonly expiresAtMs?: number | null | undefined
}

/** A key to create. */
export interface NewKey
  extends Pick<StoredKey, 'id' | 'prefix' | 'name' | 'pipelineConfig' | 'limits' | 'createdBy'>,
    ManagedFields {
  readonly accountId: string
  readonly hash: string
  /** Operator or lead that creates it with limits; `null`: its owner. */
  readonly manager?: string | null | undefined
  /** Most keys of the account that are not revoked. */
  readonly most: number
  readonly audit: AuditNote
}

/** A key of an account, and the audit entry of its change. */
export interface OwnedKey {
  readonly id: string
  readonly accountId: string
  readonly audit: AuditNote
}

/** Changes of a key; fields that are left out stay. */
export interface KeyChange extends OwnedKey, ManagedFields {
  readonly name?: string | undefined
  readonly pipelineConfig?: string | null | undefined
  readonly limits?: string | null | undefined
  readonly isSuspended?: boolean | undefined
  /** Operator or lead of the change, who takes the limits from the owner's hands; `null`: the owner. */
  readonly manager: string | null
}

/** A new secret of a key. The one before works until the overlap has passed. */
export interface KeyRotation extends OwnedKey {
  readonly hash: string
  readonly prefix: string
  readonly overlapMs: number
}

/** Last uses of keys: id and moment. */
export type KeyUses = readonly (readonly [id: string, atMs: number])[]

/**
 * Keeps keys, each change together with its audit entry. Every method rejects with `service_unavailable` while the
 * database cannot be reached, and with `internal_error` when it could not write.
 */
export interface KeyStore {
  /** Creates a key, and its account if that does not exist. Throws `permission_error` when the account has enough. */
  create(key: NewKey): Promise<StoredKey>
  /** Lists an account's keys, the revoked ones too, newest first. */
  list(accountId: string): Promise<StoredKey[]>
  /**
   * Changes a key that is not revoked; `undefined` when the account has no such key. Throws `permission_error` for limits
   * that are not the owner's to change, `invalid_request` for a team that takes no keys.
   */
  change(change: KeyChange): Promise<StoredKey | undefined>
  /** Replaces the secret of a key that is not revoked; `undefined` when the account has no such key. */
  rotate(rotation: KeyRotation): Promise<StoredKey | undefined>
  /** Revokes a key; idempotent. Resolves with whether the account has such a key. */
  revoke(key: OwnedKey): Promise<boolean>
  /** Records the last uses of keys; a moment before the recorded one changes nothing. */
  touch(uses: KeyUses): Promise<void>
}

/** Fields of a key, its account and its team that a request with it needs. Limits are JSON of `KeyLimits`. */
export interface KeyInUse {
  readonly id: string
  /** Hash of its current secret: another one than was looked up is that of the secret before its rotation. */
  readonly hash: string
  readonly accountId: string
  readonly pipelineConfig: string | null
  readonly limits: string | null
  /** JSON list. */
  readonly tags: string | null
  readonly revokedAtMs: number | null
  readonly keySuspendedAtMs: number | null
  readonly expiresAtMs: number | null
  /** End of the overlap in which the secret before its rotation still works. */
  readonly previousUntilMs: number | null
  readonly tier: string
  /** Suspension of its account. */
  readonly suspendedAtMs: number | null
  readonly personLimits: string | null
  readonly teamId: string | null
  readonly teamLimits: string | null
  /** Every tag that has limits, a line each: its name, a space, its limits. `null`: none has. */
  readonly tagLimits: string | null
}

/** Finds the key of a hash, or of its hash before a rotation, on all instances. Throws `service_unavailable`. */
export interface KeyLookup {
  find(hash: string): KeyInUse | undefined | Promise<KeyInUse | undefined>
  close(): void
}

import type { AuditNote } from './audit.ts'

/** Limits that a key's owner has set on it. They add to the operator's, and never loosen them. */
export interface KeyLimits {
  /** Most that one request may cost, in USD. */
  readonly costPerRequest?: number | undefined
  /** Most that the key may spend in a UTC day, in USD. */
  readonly costPerDay?: number | undefined
  /** Most that the key may spend in a UTC month, in USD. */
  readonly costPerMonth?: number | undefined
  readonly requestsPerMinute?: number | undefined
  /** The only models it may ask; a `*` at the end stands for any rest. */
  readonly models?: readonly string[] | undefined
  /** The only modules that its requests may name. */
  readonly modules?: readonly string[] | undefined
}

/** What the database knows of a key, but for its hash. */
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
}

/** A key to be made. */
export interface NewKey extends Pick<StoredKey, 'id' | 'prefix' | 'name' | 'pipelineConfig' | 'limits'> {
  readonly accountId: string
  readonly hash: string
  /** How many keys the account may have that are not revoked. */
  readonly most: number
  readonly audit: AuditNote
}

/** Whose key is meant, and the entry of what is done to it. */
export interface OwnedKey {
  readonly id: string
  readonly accountId: string
  readonly audit: AuditNote
}

/** What is to be changed of a key; what is not given stays. */
export interface KeyChange extends OwnedKey {
  readonly name?: string | undefined
  readonly pipelineConfig?: string | null | undefined
  readonly limits?: string | null | undefined
}

/** When keys were used: id and moment. */
export type KeyUses = readonly (readonly [id: string, atMs: number])[]

/**
 * Keeps keys, each change together with its audit entry. Every method rejects with `service_unavailable` while the
 * database cannot be reached, and with `internal_error` when it could not write.
 */
export interface KeyStore {
  /** Makes a key, and its account if that is not there. Throws `permission_error` when the account has enough. */
  create(key: NewKey): Promise<StoredKey>
  /** An account's keys, the revoked ones too, newest first. */
  list(accountId: string): Promise<StoredKey[]>
  /** Changes a key that is not revoked; `undefined` when the account has no such key. */
  change(change: KeyChange): Promise<StoredKey | undefined>
  /** Revokes a key; twice is harmless. Resolves with whether the account has such a key. */
  revoke(key: OwnedKey): Promise<boolean>
  /** Notes when keys were used; an earlier moment than the one that is there changes nothing. */
  touch(uses: KeyUses): Promise<void>
}

/** What a request needs of the key that it came with. */
export interface KeyInUse {
  readonly id: string
  readonly accountId: string
  readonly pipelineConfig: string | null
  /** JSON of its `KeyLimits`. */
  readonly limits: string | null
  readonly revokedAtMs: number | null
  readonly tier: string
  readonly suspendedAtMs: number | null
}

/** Finds the key of a hash as it is now, on all instances. Throws `service_unavailable`. */
export interface KeyLookup {
  find(hash: string): KeyInUse | undefined | Promise<KeyInUse | undefined>
  close(): void
}

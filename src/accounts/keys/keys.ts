import { parseFields } from '../../core/request/parse-fields.ts'
import {
  type CreatedKey,
  changeKey,
  createKey,
  type KeyChangeOptions,
  type RotatedKey,
  revokeKey,
  rotateKey,
} from './change-keys.ts'
import { keyChangeFields, newKeyFields, rotationFields } from './fields.ts'
import { assertChange, type KeyRecord, recordOf, toOptionalTime } from './key-records.ts'
import type { LastUsed } from './last-used.ts'

/** Dependencies of key management. */
export interface KeysOptions extends KeyChangeOptions {
  readonly lastUsed: Pick<LastUsed, 'latest'>
}

/** A key in a list. */
export interface ListedKey extends KeyRecord {
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}

/** Key management for owners (specification, 4.5 to 4.8). */
export class Keys {
  readonly #options: KeysOptions

  constructor(options: KeysOptions) {
    this.#options = options
  }

  /** Creates a key; the only reply that contains the key itself. Throws `invalid_request`, `permission_error`. */
  async create(userId: string, body: unknown): Promise<CreatedKey> {
    return createKey(this.#options, { ...parseFields(newKeyFields, body), accountId: userId, actor: `user:${userId}` })
  }

  /** Lists all keys of a user, revoked ones included, newest first. */
  async list(userId: string): Promise<ListedKey[]> {
    const { store, lastUsed } = this.#options
    const keys = await store.list(userId)
    return keys.map((key) => ({
      ...recordOf(key),
      lastUsedAt: toOptionalTime(lastUsed.latest(key.id, key.lastUsedAtMs)),
      revokedAt: toOptionalTime(key.revokedAtMs),
    }))
  }

  /** Changes a key, with effect from its next request on. Throws `invalid_request`, `not_found`, `permission_error`. */
  async change(userId: string, id: string, body: unknown): Promise<KeyRecord> {
    const fields = parseFields(keyChangeFields, body)
    assertChange(fields, ['name', 'pipelineConfig', 'limits'])
    return changeKey(this.#options, { ...fields, id, accountId: userId, actor: `user:${userId}` })
  }

  /** Gives a key a new secret; the one before works until the overlap has passed. Throws `invalid_request`, `not_found`. */
  async rotate(userId: string, id: string, body: unknown): Promise<RotatedKey> {
    const { overlapSeconds } = parseFields(rotationFields, body)
    return rotateKey(this.#options, { id, accountId: userId, actor: `user:${userId}`, overlapSeconds })
  }

  /** Revokes a key: its next request is refused. Throws `not_found`. */
  async revoke(userId: string, id: string): Promise<void> {
    await revokeKey(this.#options, { id, accountId: userId, actor: `user:${userId}` })
  }
}

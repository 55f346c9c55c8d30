import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import type { AuditNote } from '../../core/ports/audit.ts'
import type { KeyLimits, KeyStore, StoredKey } from '../../core/ports/keys.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import { keyChangeFields, newKeyFields } from './fields.ts'
import { createKey, createKeyId, isKeyId, prefixOf } from './key-format.ts'
import type { HashKey } from './key-hash.ts'
import type { LastUsed } from './last-used.ts'

/** Dependencies of key management. */
export interface KeysOptions {
  readonly store: KeyStore
  readonly hashKey: HashKey
  readonly lastUsed: Pick<LastUsed, 'latest'>
  /** Prefix of new keys. */
  readonly label: string
  /** Maximum number of active keys per account. */
  readonly most: number
  /** Throws `invalid_request` for an invalid pipeline. */
  readonly assertPipeline: (text: string) => void
}

/** A key as shown to its owner (specification, 2.4); `limits` is an extension, present when some are set. */
export interface KeyRecord {
  readonly id: string
  readonly prefix: string
  readonly name?: string
  readonly pipelineConfig: string | null
  readonly limits?: KeyLimits
  readonly createdAt: string
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
  async create(userId: string, body: unknown): Promise<KeyRecord & { readonly key: string }> {
    const { store, hashKey, label, most } = this.#options
    const fields = parseFields(newKeyFields, body)
    const { name = null, pipelineConfig = null, limits = null } = fields
    if (pipelineConfig !== null) this.#options.assertPipeline(pipelineConfig)
    const key = createKey(label)
    const id = createKeyId()
    const stored = await store.create({
      id,
      accountId: userId,
      hash: hashKey(key),
      prefix: prefixOf(key),
      name,
      pipelineConfig,
      limits: toJson(limits),
      most,
      audit: noteOf('key.created', { id, userId, details: detailsOf(fields) }),
    })
    const { id: _, ...record } = recordOf(stored)
    return { id, key, ...record }
  }

  /** Lists all keys of a user, revoked ones included, newest first. */
  async list(userId: string): Promise<ListedKey[]> {
    const { store, lastUsed } = this.#options
    const keys = await store.list(userId)
    return keys.map((key) => ({
      ...recordOf(key),
      lastUsedAt: toIso(lastUsed.latest(key.id, key.lastUsedAtMs)),
      revokedAt: toIso(key.revokedAtMs),
    }))
  }

  /** Changes a key, with effect from its next request on. Throws `invalid_request`, `not_found`. */
  async change(userId: string, id: string, body: unknown): Promise<KeyRecord> {
    const { store } = this.#options
    const fields = parseFields(keyChangeFields, body)
    const { name, pipelineConfig, limits } = fields
    if (name === undefined && pipelineConfig === undefined && limits === undefined)
      throw new GatewayError('invalid_request', 'Expected one at least of `name`, `pipelineConfig` and `limits`.')
    if (typeof pipelineConfig === 'string') this.#options.assertPipeline(pipelineConfig)
    const audit = noteOf('key.changed', { id, userId, details: detailsOf(fields) })
    const stored = isKeyId(id)
      ? await store.change({
          id,
          accountId: userId,
          audit,
          name,
          pipelineConfig,
          limits: limits === undefined ? undefined : toJson(limits),
        })
      : undefined
    if (stored === undefined) throw notFound()
    return recordOf(stored)
  }

  /** Revokes a key: its next request is refused. Throws `not_found`. */
  async revoke(userId: string, id: string): Promise<void> {
    const audit = noteOf('key.revoked', { id, userId })
    const isThere = isKeyId(id) && (await this.#options.store.revoke({ id, accountId: userId, audit }))
    if (!isThere) throw notFound()
  }
}

/** Creates the error for another user's key, and for a revoked one, which can no longer be changed. */
function notFound(): GatewayError {
  return new GatewayError('not_found', 'You have no active key of this id.')
}

function recordOf({ id, prefix, name, pipelineConfig, limits, createdAtMs }: StoredKey): KeyRecord {
  return {
    id,
    prefix,
    ...(name !== null && { name }),
    pipelineConfig,
    // Safe: they were checked when they were set.
    ...(limits !== null && { limits: JSON.parse(limits) as KeyLimits }),
    createdAt: new Date(createdAtMs).toISOString(),
  }
}

function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** Serialises limits; empty limits are the same as none. */
function toJson(limits: KeyLimits | null): string | null {
  const json = JSON.stringify(limits ?? {})
  return json === '{}' ? null : json
}

function noteOf(
  action: string,
  { id, userId, details = {} }: { id: string; userId: string; details?: AuditNote['details'] },
): AuditNote {
  return { id: `aud_${randomUUID()}`, accountId: userId, actor: `user:${userId}`, action, subject: id, details }
}

/** Returns the names of the changed fields, and the numbers among their values: a user's own text may be anything. */
function detailsOf(fields: Readonly<Record<string, unknown>> & { limits?: KeyLimits | null | undefined }) {
  const numbers = Object.entries(fields.limits ?? {}).filter(([, value]) => typeof value === 'number')
  return {
    fields: Object.keys(fields).filter((name) => fields[name] !== undefined),
    ...(numbers.length > 0 && { limits: Object.fromEntries(numbers) }),
  }
}

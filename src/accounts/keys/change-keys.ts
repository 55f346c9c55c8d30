import { GatewayError } from '../../core/errors.ts'
import type { KeyLimits, KeyStore } from '../../core/ports/keys.ts'
import { createKeyId, createKey as createSecret, isKeyId, prefixOf } from './key-format.ts'
import type { HashKey } from './key-hash.ts'
import { changedFields, type KeyRecord, limitsToJson, noteOf, recordOf, toTime } from './key-records.ts'

/** Dependencies of changes of keys. */
export interface KeyChangeOptions {
  readonly store: KeyStore
  readonly hashKey: HashKey
  /** Prefix of new keys. */
  readonly label: string
  /** Maximum number of active keys per account. */
  readonly most: number
  /** Throws `invalid_request` for an invalid pipeline. */
  readonly assertPipeline: (text: string) => void
}

/** A key of an account, and the actor of a change: `user:<id>` or `operator`. */
interface ActedOn {
  readonly id: string
  readonly accountId: string
  readonly actor: string
  /** True for a change by an operator or lead, whose limits the owner cannot change. */
  readonly isManaged?: true
}

/** Fields of a key; those of its managers may be left out. */
interface KeyFields {
  readonly name?: string | undefined
  readonly pipelineConfig?: string | null | undefined
  readonly limits?: KeyLimits | null | undefined
  readonly teamId?: string | null | undefined
  readonly tags?: readonly string[] | null | undefined
  /** In milliseconds since 1970. */
  readonly expiresAt?: number | null | undefined
}

/** A key with its secret, shown only once. */
export type CreatedKey = KeyRecord & { readonly key: string }

/** A key with its new secret, shown only once. */
export type RotatedKey = CreatedKey & { readonly previousUntil: string }

/** Creates a key of an account. Throws `invalid_request`, `permission_error`. */
export async function createKey(
  { store, hashKey, label, most, assertPipeline }: KeyChangeOptions,
  { accountId, actor, isManaged, ...fields }: KeyFields & Omit<ActedOn, 'id'>,
): Promise<CreatedKey> {
  const { name = null, pipelineConfig = null, limits = null } = fields
  if (pipelineConfig !== null) assertPipeline(pipelineConfig)
  const key = createSecret(label)
  const id = createKeyId()
  const stored = await store.create({
    id,
    accountId,
    hash: hashKey(key),
    prefix: prefixOf(key),
    name,
    pipelineConfig,
    limits: limitsToJson(limits),
    ...managedOf(fields),
    createdBy: actor,
    manager: isManaged ? actor : null,
    most,
    audit: noteOf('key.created', { actor, accountId, subject: id, details: changedFields(fields) }),
  })
  const { id: _, ...record } = recordOf(stored)
  return { id, key, ...record }
}

/** Changes, suspends or resumes a key, with effect from its next request on. Throws `invalid_request`, `not_found`. */
export async function changeKey(
  { store, assertPipeline }: KeyChangeOptions,
  { id, accountId, actor, isManaged, isSuspended, ...fields }: KeyFields & ActedOn & { readonly isSuspended?: boolean },
): Promise<KeyRecord> {
  const { name, pipelineConfig, limits } = fields
  if (typeof pipelineConfig === 'string') assertPipeline(pipelineConfig)
  const action = isSuspended === undefined ? 'changed' : isSuspended ? 'suspended' : 'resumed'
  const details = isSuspended === undefined ? changedFields(fields) : {}
  const change = {
    id,
    accountId,
    manager: isManaged ? actor : null,
    audit: noteOf(`key.${action}`, { actor, accountId, subject: id, details }),
    name,
    pipelineConfig,
    limits: limits === undefined ? undefined : limitsToJson(limits),
    ...managedOf(fields),
    isSuspended,
  }
  return recordOf((isKeyId(id) ? await store.change(change) : undefined) ?? missing())
}

/** Gives a key a new secret. Throws `not_found`. */
export async function rotateKey(
  { store, hashKey, label }: KeyChangeOptions,
  { id, accountId, actor, overlapSeconds }: ActedOn & { readonly overlapSeconds: number },
): Promise<RotatedKey> {
  const key = createSecret(label)
  const rotation = {
    id,
    accountId,
    hash: hashKey(key),
    prefix: prefixOf(key),
    overlapMs: overlapSeconds * 1000,
    audit: noteOf('key.rotated', { actor, accountId, subject: id, details: { overlapSeconds } }),
  }
  const stored = (isKeyId(id) ? await store.rotate(rotation) : undefined) ?? missing()
  return { ...recordOf(stored), key, previousUntil: toTime(stored.previousUntilMs ?? 0) }
}

/** Revokes a key: its next request is refused. Throws `not_found`. */
export async function revokeKey({ store }: KeyChangeOptions, { id, accountId, actor }: ActedOn): Promise<void> {
  const audit = noteOf('key.revoked', { actor, accountId, subject: id })
  const isThere = isKeyId(id) && (await store.revoke({ id, accountId, audit }))
  if (!isThere) missing()
}

function managedOf({ teamId, tags, expiresAt }: KeyFields) {
  const json = tags === undefined || tags === null || tags.length === 0 ? null : JSON.stringify(tags)
  return { teamId, tags: tags === undefined ? undefined : json, expiresAtMs: expiresAt }
}

/** Throws the error for another user's key, and for a revoked one, which can no longer be changed. */
function missing(): never {
  throw new GatewayError('not_found', 'You have no active key of this id.')
}

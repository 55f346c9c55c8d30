import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import type { AuditNote } from '../../core/ports/audit.ts'
import type { KeyLimits, StoredKey } from '../../core/ports/keys.ts'

/** A key as shown to its owner; members that are not set are absent. */
export interface KeyRecord {
  readonly id: string
  readonly prefix: string
  readonly name?: string
  readonly pipelineConfig: string | null
  readonly limits?: KeyLimits
  readonly teamId?: string
  readonly tags?: readonly string[]
  readonly expiresAt?: string
  readonly suspendedAt?: string
  /** Until when the secret before the last rotation is accepted. */
  readonly previousUntil?: string
  /** True for limits that its owner cannot change. */
  readonly limitsAreManaged?: true
  readonly createdAt: string
}

/** Returns the record of a stored key. */
export function recordOf(key: StoredKey): KeyRecord {
  const { id, prefix, name, pipelineConfig, limits, teamId, tags, expiresAtMs, suspendedAtMs, previousUntilMs } = key
  return {
    id,
    prefix,
    ...(name !== null && { name }),
    pipelineConfig,
    // Safe: limits and tags were checked when they were set.
    ...(limits !== null && { limits: JSON.parse(limits) as KeyLimits }),
    ...(key.limitsBy !== null && { limitsAreManaged: true as const }),
    ...(teamId !== null && { teamId }),
    ...(tags !== null && { tags: JSON.parse(tags) as string[] }),
    ...(expiresAtMs !== null && { expiresAt: toTime(expiresAtMs) }),
    ...(suspendedAtMs !== null && { suspendedAt: toTime(suspendedAtMs) }),
    ...(previousUntilMs !== null && { previousUntil: toTime(previousUntilMs) }),
    createdAt: toTime(key.createdAtMs),
  }
}

/** Converts milliseconds since 1970 to ISO 8601. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Converts milliseconds since 1970 to ISO 8601; null stays null. */
export function toOptionalTime(ms: number | null): string | null {
  return ms === null ? null : toTime(ms)
}

/** Serialises limits; empty limits are the same as none. */
export function limitsToJson(limits: KeyLimits | null): string | null {
  const json = JSON.stringify(limits ?? {})
  return json === '{}' ? null : json
}

/** Input of `noteOf`. */
export interface NoteOptions {
  /** `user:<id>` or `operator`. */
  readonly actor: string
  readonly accountId: string
  readonly subject: string
  readonly details?: AuditNote['details']
}

/** Returns the audit entry of a change. */
export function noteOf(action: string, { actor, accountId, subject, details = {} }: NoteOptions): AuditNote {
  return { id: `aud_${randomUUID()}`, accountId, actor, action, subject, details }
}

/** Returns the names of the changed fields and the numeric limits. Texts of the user may contain secrets, and are left out. */
export function changedFields(fields: Readonly<Record<string, unknown>> & { limits?: KeyLimits | null | undefined }) {
  const numbers = Object.entries(fields.limits ?? {}).filter(([, value]) => typeof value === 'number')
  return {
    fields: Object.keys(fields).filter((name) => fields[name] !== undefined),
    ...(numbers.length > 0 && { limits: Object.fromEntries(numbers) }),
  }
}

/** Throws `invalid_request` for a change without a field. */
export function assertChange(fields: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  if (Object.values(fields).some((value) => value !== undefined)) return
  const all = names.map((name) => `\`${name}\``)
  throw new GatewayError(
    'invalid_request',
    `Expected at least one of ${all.slice(0, -1).join(', ')} and ${all.at(-1)}.`,
  )
}

import { createHash } from 'node:crypto'
import { modulesOf, SLICE_MS } from '../../../core/telemetry/usage.ts'
import { answererOf, sumBy } from './hours.ts'
import type { UsageRequestTable } from './schema.ts'
import type { UsageSliceTable } from './slice-schema.ts'

/**
 * DESIGN — sums by person, team, tag, …
 *
 *   batch of new rows ──► usage_request (rows)  ──►  usage_hour, usage_slice, usage_conversation (sums)
 *                         one transaction: a row is in all sums, or in none
 *
 * A slice has the sums of a quarter of an hour: the offsets of all time zones are whole quarters, so that every zone's hours,
 * days and weeks are whole slices. What lies between a slice's boundary and the beginning or end of a range is read from rows.
 */
const DIGITS = 15
const DIGEST_LENGTH = 22

/** Returns the lowest id that a slice of this time or later could have. */
export function firstSliceIdAt(ms: number): string {
  return String(Math.max(0, ms)).padStart(DIGITS, '0')
}

/** Sums requests by quarter of an hour and properties, in the one order in which slices are locked, which prevents deadlocks. */
export function sumBySlice(requests: readonly UsageRequestTable[]): UsageSliceTable[] {
  const slices = sumBy(requests, (request) => ({
    scope: request.scope,
    slice_ms: Math.floor(request.started_at_ms / SLICE_MS) * SLICE_MS,
    key_id: request.key_id ?? '',
    user_id: request.user_id ?? '',
    team_id: request.team_id ?? '',
    tags: request.tags ?? '',
    client: request.client ?? '',
    ...answererOf(request),
    modules: modulesOf(request.pipeline).join(','),
  }))
  return slices.map((slice) => ({ id: idOf(slice), ...slice }))
}

function idOf(slice: Omit<UsageSliceTable, 'id'>): string {
  const { slice_ms: atMs, scope, key_id, user_id, team_id, tags, client, provider, model, modules } = slice
  const text = JSON.stringify([scope, key_id, user_id, team_id, tags, client, provider, model, modules])
  return firstSliceIdAt(atMs) + createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH)
}

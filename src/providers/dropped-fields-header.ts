import type { Reply } from '../core/reply/reply.ts'
import type { DroppedFields } from '../core/request/dropped-fields.ts'
import type { Exchange } from '../core/request/exchange.ts'
import { betaTextOf } from '../core/request/version-headers.ts'

/** Drops the betas: those of the Messages API mean nothing to a provider of another shape. */
export function dropBetas({ headers }: Exchange, droppedFields: DroppedFields): void {
  if (betaTextOf(headers) !== undefined) droppedFields.drop('anthropic-beta')
}

/** Adds the dropped fields of a request to the reply's headers. */
export function addDroppedFields(reply: Reply, { dropped }: DroppedFields): Reply {
  return addDroppedNames(reply, dropped)
}

/** Adds names to the reply's dropped fields. */
export function addDroppedNames(reply: Reply, names: readonly string[]): Reply {
  if (names.length === 0) return reply
  const existing = reply.headers['x-svc-dropped'] ?? []
  reply.headers['x-svc-dropped'] = [existing, names].flat().join(', ')
  return reply
}

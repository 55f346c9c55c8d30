import type { Losses } from '../core/losses.ts'
import type { Reply } from '../core/reply.ts'

/** Says in the reply's headers what of the request was not carried to the provider. */
export function tellLosses(reply: Reply, { dropped }: Losses): Reply {
  return tellDropped(reply, dropped)
}

/** Adds names to those of what was not carried. */
export function tellDropped(reply: Reply, names: readonly string[]): Reply {
  if (names.length === 0) return reply
  const told = reply.headers['x-svc-dropped'] ?? []
  reply.headers['x-svc-dropped'] = [told, names].flat().join(', ')
  return reply
}

import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import { BoundedMap } from '../core/bounded-map.ts'
import { messageOf } from '../core/errors.ts'
import type { AuditNote } from '../core/ports/audit.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { RoleRefused } from './roles.ts'

/** Dependencies of the audit of refusals. */
export interface RefusalAuditOptions {
  readonly append: (note: AuditNote) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

const MINUTE_MS = 60_000
/** Entries of one user in a minute; the log has the rest. */
const MOST_A_MINUTE = 120
const MOST_USERS = 10_000
const LONGEST_PATH = 200

/** Creates the middleware that records refusals of roles in the audit log, as `access.refused`. */
export function createRefusalAudit({ append, clock, log }: RefusalAuditOptions): Middleware {
  const recent = new BoundedMap<{ readonly sinceMs: number; count: number }>({ most: MOST_USERS, idleMs: MINUTE_MS })
  const isWithinBounds = (userId: string): boolean => {
    const nowMs = clock.nowMs()
    const counted = recent.get(userId, nowMs)
    if (counted !== undefined && nowMs - counted.sinceMs < MINUTE_MS) return ++counted.count <= MOST_A_MINUTE
    recent.add(userId, { sinceMs: nowMs, count: 1 }, nowMs)
    return true
  }
  return async function auditRefusals(ctx, next) {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof RoleRefused)) throw error
      const { userId } = error
      const path = ctx.path.slice(0, LONGEST_PATH)
      const note = { id: `aud_${randomUUID()}`, accountId: userId, actor: `user:${userId}`, action: 'access.refused' }
      const isRecorded =
        isWithinBounds(userId) &&
        (await append({ ...note, subject: path, details: { method: ctx.method } }).then(
          () => true,
          (failure: unknown) => void log.warn({ error: messageOf(failure) }, 'audit.append-failed'),
        ))
      if (isRecorded !== true) log.warn({ userId, method: ctx.method, path }, 'access.refused')
      throw error
    }
  }
}

import { sql } from 'kysely'
import type { Moment } from '../engine/command.ts'

/** Tests that a session is neither revoked nor past one of its ends. */
export function isInForce(now: Moment) {
  return sql<boolean>`user_session.revoked_at_ms is null and user_session.expires_at_ms > ${now}
    and user_session.last_seen_at_ms + user_session.idle_ms > ${now}`
}

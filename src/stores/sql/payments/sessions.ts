import { type Kysely, sql } from 'kysely'
import {
  FREE_LEFT_CALLS,
  type SessionCall,
  type SessionOpening,
  type SessionStanding,
} from '../../../core/ports/payments.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/**
 * DESIGN — sessions
 *
 *   paid ──open──► calls_left ── reserve ──► a row, under a lease ── commit ──► used up
 *                      ▲                          │
 *                      └── release, lease ended ──┘
 *                                 left: the first two; further ones are used up
 *
 * A call is out of `calls_left` exactly while its row is there, or for good after its commit: both change together.
 */
const SWEPT_AT_ONCE = 100

/** Opens a session. Idempotent: with the same payment it keeps its calls and its end. */
export const openSession: Command<SessionOpening, SessionStanding> = async (db, opening, now) => {
  const { sessionId, tokenHash, reference, calls, ttlMs } = opening
  const row = await db
    .insertInto('agent_session')
    .values({
      id: sessionId,
      token_hash: tokenHash,
      reference,
      calls_total: calls,
      calls_left: calls,
      expires_at_ms: sql`${now} + ${ttlMs}`,
    })
    // The signer of tokens may have a new secret since.
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ token_hash: tokenHash }))
    .returning(['id', 'calls_total', 'calls_left', 'expires_at_ms'])
    .executeTakeFirstOrThrow()
  return toStanding(row)
}

/** Takes a call out of a session. */
export const reserveSessionCall: Command<{ tokenHash: string; callId: string; leaseMs: number }, SessionCall> = async (
  db,
  { tokenHash, callId, leaseMs },
  now,
) => {
  const taken = await db
    .updateTable('agent_session')
    .set((of) => ({ calls_left: of('calls_left', '-', 1) }))
    .where('token_hash', '=', tokenHash)
    .where('calls_left', '>', 0)
    .where('expires_at_ms', '>', now)
    .returning(['id', 'reference'])
    .executeTakeFirst()
  if (taken === undefined) {
    const row = await readStanding(db, tokenHash)
    if (row === undefined) return { kind: 'refused', why: 'unknown' }
    return { kind: 'refused', why: row.callsLeft === 0 ? 'exhausted' : 'expired' }
  }
  await db
    .insertInto('agent_session_call')
    .values({ id: callId, session_id: taken.id, lease_until_ms: sql`${now} + ${leaseMs}` })
    .execute()
  return { kind: 'reserved', sessionId: taken.id, reference: taken.reference }
}

/** Uses a call up. */
export const commitSessionCall: Command<{ callId: string }, boolean> = async (db, { callId }) =>
  (await endCall(db, callId)) !== undefined

/** Gives a call back. */
export const releaseSessionCall: Command<{ callId: string }, void> = async (db, { callId }) => {
  const sessionId = await endCall(db, callId)
  if (sessionId !== undefined) await giveBack(db, sessionId)
}

/** Counts a client disconnect, and gives the call back or uses it up. */
export const leaveSessionCall: Command<{ callId: string }, void> = async (db, { callId }) => {
  const sessionId = await endCall(db, callId)
  if (sessionId === undefined) return
  await db
    .updateTable('agent_session')
    .set((of) => ({
      calls_left: sql`calls_left + case when left_calls < ${sql.lit(FREE_LEFT_CALLS)} then 1 else 0 end`,
      left_calls: of('left_calls', '+', 1),
    }))
    .where('id', '=', sessionId)
    .execute()
}

/** Gives back calls whose lease has ended; returns how many. */
export const sweepSessionCalls: Command<undefined, number> = async (db, _, now) => {
  const ended = await db
    .deleteFrom('agent_session_call')
    .where('id', 'in', (from) =>
      from.selectFrom('agent_session_call').select('id').where('lease_until_ms', '<=', now).limit(SWEPT_AT_ONCE),
    )
    .where('lease_until_ms', '<=', now)
    .returning('session_id')
    .execute()
  for (const id of ended.map(({ session_id }) => session_id).sort()) await giveBack(db, id)
  return ended.length
}

/** Returns the remaining calls of a session. */
export const readSession: Command<{ tokenHash: string }, SessionStanding | undefined> = (db, { tokenHash }) =>
  readStanding(db, tokenHash)

/** Ends an in-flight call; returns its session, or `undefined` when it has ended before. */
async function endCall(db: Kysely<Database>, callId: string): Promise<string | undefined> {
  const row = await db
    .deleteFrom('agent_session_call')
    .where('id', '=', callId)
    .returning('session_id')
    .executeTakeFirst()
  return row?.session_id
}

async function giveBack(db: Kysely<Database>, sessionId: string): Promise<void> {
  await db
    .updateTable('agent_session')
    .set((of) => ({ calls_left: of('calls_left', '+', 1) }))
    .where('id', '=', sessionId)
    .execute()
}

async function readStanding(db: Kysely<Database>, tokenHash: string): Promise<SessionStanding | undefined> {
  const row = await db
    .selectFrom('agent_session')
    .select(['id', 'calls_total', 'calls_left', 'expires_at_ms'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return row && toStanding(row)
}

function toStanding(row: {
  id: string
  calls_total: number
  calls_left: number
  expires_at_ms: number
}): SessionStanding {
  const { id, calls_total: callsTotal, calls_left: callsLeft, expires_at_ms: expiresAtMs } = row
  return { sessionId: id, callsTotal, callsLeft, expiresAtMs }
}

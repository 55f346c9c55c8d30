import type { Kysely } from 'kysely'
import type { AuditNote } from '../../../core/ports/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { appendAudit } from './audit.ts'
import type { Tier } from './schema.ts'

const insertAccount = statement(['id'], (db, given: Places<{ id: string }>, now) =>
  db
    .insertInto('account')
    .values({
      id: given.id,
      tier: 'free',
      posted_credits: 0,
      held_credits: 0,
      entry_seq: 0,
      period_start_ms: null,
      period_end_ms: null,
      suspended_at_ms: null,
      created_at_ms: now,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
)

/** Creates a user's account unless it exists; for commands, whose transaction it joins. Resolves with true when it was created. */
export async function ensureAccount(db: Kysely<Database>, id: string, now: Moment): Promise<boolean> {
  return (await insertAccount(db, { id }, now)).length > 0
}

/** The properties of an account that a session needs. */
export interface AccountStanding {
  readonly tier: Tier
  readonly suspendedAtMs: number | null
}

/** Returns a user's account, created if it does not exist. */
export const openAccount: Command<{ id: string }, AccountStanding> = async (db, { id }, now) => {
  const find = () =>
    db
      .selectFrom('account')
      .select(['tier', 'suspended_at_ms as suspendedAtMs'])
      .where('id', '=', id)
      .executeTakeFirst()
  const known = await find()
  if (known !== undefined) return known
  await ensureAccount(db, id, now)
  return { tier: 'free', suspendedAtMs: null }
}

/** A suspension of an account, or its end, with the actor. */
export interface Suspension {
  readonly id: string
  readonly isSuspended: boolean
  readonly audit: AuditNote
}

/** Suspends or resumes an account; idempotent. Returns false when there is no such account. */
export const suspendAccount: Command<Suspension, boolean> = async (db, { id, isSuspended, audit }, now) => {
  const changed = await db
    .updateTable('account')
    .set({ suspended_at_ms: isSuspended ? now : null })
    .where('id', '=', id)
    .where('suspended_at_ms', isSuspended ? 'is' : 'is not', null)
    .returning('id')
    .executeTakeFirst()
  if (changed !== undefined) {
    await appendAudit(db, audit, now)
    return true
  }
  return (await db.selectFrom('account').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

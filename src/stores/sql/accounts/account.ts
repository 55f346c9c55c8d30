import { type Kysely, sql } from 'kysely'
import type { AuditNote } from '../../../core/ports/audit.ts'
import type { AccountStanding } from '../../../core/ports/people.ts'
import type { Command, Moment } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { appendAudit } from './audit.ts'

const insertAccount = statement(['id'], (db, given: Places<{ id: string }>, now) =>
  db
    .insertInto('account')
    .values({
      id: given.id,
      tier: 'free',
      role: 'member',
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

const SEEN_EVERY_MS = sql.lit(5 * 60_000)

/** Finds an account with the teams that it leads. */
const findStanding = statement(['id'], (db, given: Places<{ id: string }>) =>
  db
    .selectFrom('account')
    .select((of) => [
      'tier',
      'role',
      'suspended_at_ms as suspendedAtMs',
      of
        .selectFrom('team_member')
        .innerJoin('team', 'team.id', 'team_id')
        .select(sql<string | null>`string_agg(team_id, ' ')`.as('ids'))
        .whereRef('account_id', '=', 'account.id')
        .where('team_member.role', '=', 'lead')
        .where('archived_at_ms', 'is', null)
        .as('leads'),
    ])
    .where('account.id', '=', given.id),
)

const markSeen = statement(['id'], (db, given: Places<{ id: string }>, now) =>
  db
    .updateTable('account')
    .set({ last_seen_at_ms: now })
    .where('id', '=', given.id)
    .where((is) =>
      is.or([is('last_seen_at_ms', 'is', null), is('last_seen_at_ms', '<', sql<number>`${now} - ${SEEN_EVERY_MS}`)]),
    ),
)

/** Returns an account's standing; `undefined` when there is no such account. */
export async function standingOf(db: Kysely<Database>, id: string): Promise<AccountStanding | undefined> {
  const [row] = await findStanding(db, { id })
  return row && { ...row, leads: row.leads === null ? [] : row.leads.split(' ') }
}

/** Returns a user's account, created if it does not exist, and records that it was seen. */
export const openAccount: Command<{ id: string }, AccountStanding> = async (db, { id }, now) => {
  let standing = await standingOf(db, id)
  if (standing === undefined) {
    await ensureAccount(db, id, now)
    standing = { tier: 'free', role: 'member', suspendedAtMs: null, leads: [] }
  }
  await markSeen(db, { id }, now)
  return standing
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

import type { Kysely } from 'kysely'
import type { Moment } from '../command.ts'
import type { Database } from '../schema.ts'
import { type Places, statement } from '../statement.ts'

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

/** Makes a user's account unless it is there; for commands, whose transaction it joins. Resolves with whether it was made. */
export async function ensureAccount(db: Kysely<Database>, id: string, now: Moment): Promise<boolean> {
  return (await insertAccount(db, { id }, now)).length > 0
}

import type { Kysely } from 'kysely'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/**
 * DESIGN — webhooks in any order, any number of times
 *
 *   event ─▶ take a ticket ─▶ fetch the object from the provider ─▶ one transaction: record the event,
 *                                                                   write the object unless a later ticket has
 *
 * An event's own copy of its object is never used: it may be stale. Of two fetches the one with the later ticket counts.
 * An object that changes after a fetch raises a further event, whose fetch has a later ticket, so the last one wins
 * whichever order events, fetches and writes come in. Effects that may happen only once are keyed by the business id.
 */

/** Takes the next ticket: 1, 2, 3, … */
export const takeTicket: Command<null, number> = async (db) => {
  const { last_ticket } = await db
    .insertInto('billing_sequence')
    .values({ id: 'stripe', last_ticket: 1 })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((of) => ({ last_ticket: of('billing_sequence.last_ticket', '+', 1) })),
    )
    .returning('last_ticket')
    .executeTakeFirstOrThrow()
  return last_ticket
}

/** Returns true when an event was handled. */
export const hasSeenEvent: Command<string, boolean> = async (db, id) => {
  const row = await db.selectFrom('billing_event').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/** Records an event as handled, in the transaction of its effect. */
export async function rememberEvent(db: Kysely<Database>, id: string | undefined, now: Moment): Promise<void> {
  if (id === undefined) return
  await db
    .insertInto('billing_event')
    .values({ id, created_at_ms: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

const PRUNED_AT_ONCE = 200
/** The provider repeats an event for three days, and lists them for thirty. */
const KEPT_MS = 40 * 24 * 60 * 60 * 1000

/** Deletes events that are no longer repeated; returns how many, at most 200. */
export const pruneEvents: Command<null, number> = async (db, _, now) => {
  const { numDeletedRows } = await db
    .deleteFrom('billing_event')
    .where('id', 'in', (from) =>
      from
        .selectFrom('billing_event')
        .select('id')
        .where((is) => is('created_at_ms', '<', is(now, '-', KEPT_MS)))
        .orderBy('created_at_ms')
        .limit(PRUNED_AT_ONCE),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Claims a due task, which is then due again after `everyMs`; returns true for the one caller that gets it. */
export const claimTask: Command<{ name: string; everyMs: number }, boolean> = async (db, { name, everyMs }, now) => {
  const row = await db
    .insertInto('billing_task')
    .values((of) => ({ name, due_at_ms: of(now, '+', everyMs) }))
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((of) => ({ due_at_ms: of.ref('excluded.due_at_ms') }))
        .where('billing_task.due_at_ms', '<=', now),
    )
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

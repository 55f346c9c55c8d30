import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'

/** Calls of an account in a period. */
export interface CallKey {
  readonly accountId: string
  readonly windowId: string
}

/** Holds calls in a period, which may be new, and returns all used or held ones, these included. Locks it for the transaction. */
export async function holdCalls(db: Kysely<Database>, key: CallKey, calls: number): Promise<number> {
  const [row] = await addHeld(db, { ...key, calls })
  if (row === undefined) throw new GatewayError('internal_error', `The calls of ${key.windowId} cannot be counted.`)
  return row.settled_calls + row.held_calls
}

const addHeld = statement(
  ['accountId', 'windowId', 'calls'],
  (db, given: Places<{ accountId: string; windowId: string; calls: number }>) =>
    db
      .insertInto('call_window')
      .values({
        account_id: given.accountId,
        window_id: given.windowId,
        settled_calls: 0,
        held_calls: given.calls,
      })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'window_id']).doUpdateSet((of) => ({
          held_calls: of('call_window.held_calls', '+', of.ref('excluded.held_calls')),
        })),
      )
      .returning(['settled_calls', 'held_calls']),
)

/** Changes the calls of a period in which some were held before. */
export async function changeCalls(
  db: Kysely<Database>,
  key: CallKey,
  change: { settledCalls: number; heldCalls: number },
): Promise<void> {
  const changed = await addToCalls(db, { ...key, ...change })
  if (changed.length === 0) throw new GatewayError('internal_error', `The calls of ${key.windowId} are gone.`)
}

const addToCalls = statement(
  ['accountId', 'windowId', 'settledCalls', 'heldCalls'],
  (db, given: Places<{ accountId: string; windowId: string; settledCalls: number; heldCalls: number }>) =>
    db
      .updateTable('call_window')
      .set((of) => ({
        settled_calls: of('settled_calls', '+', given.settledCalls),
        held_calls: of('held_calls', '+', given.heldCalls),
      }))
      .where('account_id', '=', given.accountId)
      .where('window_id', '=', given.windowId)
      .returning('window_id'),
)

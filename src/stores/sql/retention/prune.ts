import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'

/** Rows per batch: few enough not to block other commands. */
export const PRUNED_AT_ONCE = 200

/** Deletes rows whose ids sort before this one; returns how many, at most 200. */
function pruneById(table: 'receipt' | 'usage_request' | 'usage_slice'): Command<{ beforeId: string }, number> {
  return async (db, { beforeId }) => {
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .where('id', 'in', (from) =>
        from.selectFrom(table).select('id').where('id', '<', beforeId).orderBy('id').limit(PRUNED_AT_ONCE),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }
}

/** Deletes receipts whose ids sort before this one; returns how many, at most 200. */
export const pruneReceipts = pruneById('receipt')

/** Deletes sums of slices whose ids sort before this one; returns how many, at most 200. */
export const pruneSlices = pruneById('usage_slice')

/** Deletes telemetry of requests whose ids sort before this one; returns how many, at most 200. */
export const pruneRequests = pruneById('usage_request')

type IsWindow = ExpressionBuilder<Database, 'spend_window'>

/** Deletes windows of spending that match and hold no money; returns how many, at most 200. */
function pruneIdle<Input>(matches: (is: IsWindow, input: Input) => Expression<SqlBool>): Command<Input, number> {
  return async (db, input) => {
    const isIdle = (is: IsWindow) => is.and([matches(is, input), is('held_nano_usd', '=', 0)])
    const { numDeletedRows } = await db
      .deleteFrom('spend_window')
      .where((is) =>
        is(is.refTuple('scope', 'window_id'), 'in', (from) =>
          from
            .selectFrom('spend_window')
            .select(['scope', 'window_id'])
            .where(isIdle)
            .limit(PRUNED_AT_ONCE)
            .$asTuple('scope', 'window_id'),
        ),
      )
      // Checks again on the locked row: it may have been used since it was selected.
      .where(isIdle)
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }
}

/** Deletes windows of spending of one kind, from the first of its kind to before another; returns how many, at most 200. */
export const pruneWindows = pruneIdle<{ fromWindow: string; beforeWindow: string }>(
  (is, { fromWindow, beforeWindow }) => is.and([is('window_id', '>=', fromWindow), is('window_id', '<', beforeWindow)]),
)

/** Deletes budgets last used before a day; returns how many, at most 200. */
export const pruneBudgets = pruneIdle<{ beforeDay: number }>((is, { beforeDay }) => is('used_day', '<', beforeDay))

/** Deletes conversations whose last request's id sorts before this one; returns how many rows, at most 200. */
export const pruneConversations: Command<{ beforeId: string }, number> = async (db, { beforeId }) => {
  const key = ['scope', 'conversation_id', 'provider', 'model'] as const
  const { numDeletedRows } = await db
    .deleteFrom('usage_conversation')
    .where((is) =>
      is(is.refTuple(...key), 'in', (from) =>
        from
          .selectFrom('usage_conversation')
          .select([...key])
          .where('last_id', '<', beforeId)
          .orderBy('last_id')
          .limit(PRUNED_AT_ONCE)
          .$asTuple(...key),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes sums of hours that begin before a moment; returns how many, at most 200. */
export const pruneHours: Command<{ beforeMs: number }, number> = async (db, { beforeMs }) => {
  const { numDeletedRows } = await db
    .deleteFrom('usage_hour')
    .where((is) =>
      is(is.refTuple('scope', 'hour_ms', 'provider', 'model'), 'in', (from) =>
        from
          .selectFrom('usage_hour')
          .select(['scope', 'hour_ms', 'provider', 'model'])
          .where('hour_ms', '<', beforeMs)
          .limit(PRUNED_AT_ONCE)
          .$asTuple('scope', 'hour_ms', 'provider', 'model'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

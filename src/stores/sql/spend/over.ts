import { sql } from 'kysely'
import type { Command } from '../engine/command.ts'

/** Selects the windows of one name whose sums have reached a limit. */
export interface OverQuery {
  readonly window: string
  /** Start of the scopes. */
  readonly scope: string
  readonly limitNanoUsd: number
  readonly most: number
}

/** Lists the scopes whose spending in a window has reached a limit, largest first. */
export const listOver: Command<OverQuery, { scope: string; nanoUsd: number }[]> = async (
  db,
  { window, scope, limitNanoUsd, most },
) => {
  const spent = sql<number>`settled_nano_usd + held_nano_usd`
  return db
    .selectFrom('spend_window')
    .select(['scope', spent.as('nanoUsd')])
    .where('window_id', '=', window)
    .where(spent, '>=', limitNanoUsd)
    .where(sql<string>`substr(scope, 1, ${sql.lit(scope.length)})`, '=', scope)
    .orderBy('nanoUsd', 'desc')
    .orderBy('scope')
    .limit(most)
    .execute()
}

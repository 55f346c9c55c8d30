import type { ScopeSpend } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'

/** Reads what is spent and held in these windows of these scopes; unused windows are left out. */
export const readScopes: Command<{ scopes: readonly string[]; windows: readonly string[] }, ScopeSpend[]> = async (
  db,
  { scopes, windows },
) => {
  if (scopes.length === 0) return []
  const rows = await db
    .selectFrom('spend_window')
    .select(['scope', 'window_id', 'settled_nano_usd', 'held_nano_usd'])
    .where('scope', 'in', scopes)
    .where('window_id', 'in', windows)
    .execute()
  return rows.map((row) => ({
    scope: row.scope,
    window: row.window_id,
    nanoUsd: row.settled_nano_usd + row.held_nano_usd,
  }))
}

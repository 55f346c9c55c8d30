import type { Command } from '../engine/command.ts'

/** Returns the begin of the first hour that has sums, in milliseconds since 1970; `null` for none. */
export const readFirstHour: Command<Record<string, never>, number | null> = async (db) => {
  const row = await db.selectFrom('usage_hour').select('hour_ms').orderBy('hour_ms').limit(1).executeTakeFirst()
  return row?.hour_ms ?? null
}

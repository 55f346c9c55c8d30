import { sql } from 'kysely'
import type { StoredResponse } from '../../../core/ports/stored-responses.ts'
import type { Command } from '../engine/command.ts'
import { PRUNED_AT_ONCE } from '../retention/prune.ts'
import { sizeOf } from './row-size.ts'

/** A response to store, and the bounds of its caller. */
export interface ResponseToStore extends StoredResponse {
  readonly ttlMs: number
  /** Most responses of its caller: beyond it, the oldest are deleted. */
  readonly mostOfCaller: number
}

/** Stores a response, in place of an earlier one of the same id, and deletes those of its caller beyond the bound. */
export const putResponse: Command<ResponseToStore, void> = async (db, response, now) => {
  const { scope, id, provider, account, tokens, content, ttlMs, mostOfCaller } = response
  const values = {
    provider,
    account,
    total_tokens: tokens,
    content,
    size_bytes: sizeOf({ content }),
    created_at_ms: now,
    expires_at_ms: sql<number>`${now} + cast(${ttlMs} as bigint)`,
  }
  await db
    .insertInto('stored_response')
    .values({ scope, id, ...values })
    .onConflict((conflict) => conflict.columns(['scope', 'id']).doUpdateSet(values))
    .execute()
  await sql`delete from stored_response where scope = ${scope} and (created_at_ms, id) < (
    select created_at_ms, id from stored_response where scope = ${scope}
    order by created_at_ms desc, id desc limit 1 offset ${mostOfCaller - 1})`.execute(db)
}

/** Returns a caller's response; `undefined` for one of another caller, an expired one and an unknown one. */
export const findResponse: Command<{ scope: string; id: string }, StoredResponse | undefined> = async (
  db,
  { scope, id },
  now,
) => {
  const row = await db
    .selectFrom('stored_response')
    .select(['provider', 'account', 'total_tokens', 'content'])
    .where('scope', '=', scope)
    .where('id', '=', id)
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()
  return (
    row && { scope, id, provider: row.provider, account: row.account, tokens: row.total_tokens, content: row.content }
  )
}

/** Deletes a caller's response. Idempotent. */
export const deleteResponse: Command<{ scope: string; id: string }, void> = async (db, { scope, id }) => {
  await db.deleteFrom('stored_response').where('scope', '=', scope).where('id', '=', id).execute()
}

/** Deletes responses that have expired; returns how many, at most 200. */
export const pruneExpired: Command<Record<string, never>, number> = async (db, _, now) => {
  const { numDeletedRows } = await db
    .deleteFrom('stored_response')
    .where((is) =>
      is(is.refTuple('scope', 'id'), 'in', (from) =>
        from
          .selectFrom('stored_response')
          .select(['scope', 'id'])
          .where('expires_at_ms', '<=', now)
          .limit(PRUNED_AT_ONCE)
          .$asTuple('scope', 'id'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Returns the bytes of all responses together. Reads the sizes of all rows. */
export const sumResponses: Command<Record<string, never>, number> = async (db) => {
  const { rows } = await sql<{ bytes: number | null }>`
    select cast(sum(size_bytes) as bigint) as bytes from stored_response`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
}

/** Deletes the oldest responses, of so many bytes together and no more than 200; returns their bytes. */
export const pruneOldest: Command<{ bytes: number }, number> = async (db, { bytes }) => {
  const { rows } = await sql<{ size_bytes: number }>`
    delete from stored_response where (scope, id) in (
      select scope, id from (
        select scope, id, sum(size_bytes) over (order by created_at_ms, scope, id) - size_bytes as older_bytes
        from (select scope, id, size_bytes, created_at_ms from stored_response
          order by created_at_ms, scope, id limit ${sql.lit(PRUNED_AT_ONCE)}) as oldest
      ) as summed where older_bytes < ${bytes}
    ) returning size_bytes`.execute(db)
  return rows.reduce((sum, row) => sum + Number(row.size_bytes), 0)
}

import { sql } from 'kysely'
import type { StoredResponse } from '../../../core/ports/stored-responses.ts'
import type { Command } from '../engine/command.ts'
import { PRUNED_AT_ONCE } from '../retention/prune.ts'

/** Bytes that a row costs besides its content. */
const ROW_BYTES = 512

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
    size_bytes: ROW_BYTES + (content === null ? 0 : Buffer.byteLength(content)),
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

/**
 * Deletes responses that have expired, else the oldest while all together have more than `mostBytes`; returns how many,
 * at most 200.
 */
export const pruneResponses: Command<{ mostBytes: number }, number> = async (db, { mostBytes }, now) => {
  const expired = await db
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
  if (expired.numDeletedRows > 0n) return Number(expired.numDeletedRows)
  const { rows: sums } = await sql<{ bytes: number | null }>`
    select cast(sum(size_bytes) as bigint) as bytes from stored_response`.execute(db)
  const excessBytes = Number(sums[0]?.bytes ?? 0) - mostBytes
  if (excessBytes <= 0) return 0
  const { rows } = await sql<{ id: string }>`
    delete from stored_response where (scope, id) in (
      select scope, id from (
        select scope, id, sum(size_bytes) over (order by created_at_ms, scope, id) - size_bytes as older_bytes
        from (select scope, id, size_bytes, created_at_ms from stored_response
          order by created_at_ms, scope, id limit ${sql.lit(PRUNED_AT_ONCE)}) as oldest
      ) as summed where older_bytes < ${excessBytes}
    ) returning id`.execute(db)
  return rows.length
}

import { sql } from 'kysely'
import type { StoredResponse } from '../../../core/ports/stored-responses.ts'
import type { Command } from '../engine/command.ts'
import { PRUNED_AT_ONCE } from '../retention/prune.ts'
import { sizeOf } from './row-size.ts'

/** Beginning of the scope of a key's requests. */
const KEY_SCOPE = 'key:'

/** A response to store, and the bounds of its caller. */
export interface ResponseToStore extends StoredResponse {
  readonly ttlMs: number
  /** Most responses of its caller: beyond it, the oldest are deleted. */
  readonly mostOfCaller: number
}

/** Stores a response, in place of an earlier one of the same id, and deletes those of its caller beyond the bound. */
export const putResponse: Command<ResponseToStore, void> = async (db, response, now) => {
  const { scope, id, provider, account, tokens, content, conversation, ttlMs, mostOfCaller } = response
  const values = {
    provider,
    account,
    total_tokens: tokens,
    content,
    conversation_id: conversation,
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
    .select(['provider', 'account', 'total_tokens', 'content', 'conversation_id'])
    .where('scope', '=', scope)
    .where('id', '=', id)
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { provider, account, total_tokens: tokens, content, conversation_id: conversation } = row
  return { scope, id, provider, account, tokens, content, conversation }
}

/** Returns the bytes of a response's content, without reading it; 0 for none, and for a response that `findResponse` does not find. */
export const contentBytes: Command<{ scope: string; id: string }, number> = async (db, { scope, id }, now) => {
  const row = await db
    .selectFrom('stored_response')
    .select('size_bytes')
    .where('scope', '=', scope)
    .where('id', '=', id)
    .where('expires_at_ms', '>', now)
    .where('content', 'is not', null)
    .executeTakeFirst()
  return Number(row?.size_bytes ?? 0)
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

/**
 * Deletes responses of keys that were revoked within so many milliseconds, which no caller can read any more; returns how many, at
 * most 200.
 */
export const pruneRevoked: Command<{ withinMs: number }, number> = async (db, { withinMs }, now) => {
  const { rows } = await sql`
    delete from stored_response where (scope, id) in (
      select scope, id from stored_response where scope in (
        select ${sql.lit(KEY_SCOPE)} || id from api_key where revoked_at_ms >= ${now} - cast(${withinMs} as bigint)
      ) limit ${sql.lit(PRUNED_AT_ONCE)}
    ) returning id`.execute(db)
  return rows.length
}

/** Sizes of all responses. */
export interface StoredSizes {
  readonly bytes: number
  /** Scope of the caller with the most bytes; empty where nothing is stored. */
  readonly heaviest: string
}

/** Returns the bytes of all responses together, and the scope with the most of them. Reads the sizes of all rows. */
export const sumResponses: Command<Record<string, never>, StoredSizes> = async (db) => {
  const { rows } = await sql<{ scope: string; bytes: number }>`
    select scope, cast(sum(own) over () as bigint) as bytes from (
      select scope, sum(size_bytes) as own from stored_response group by scope
    ) as callers order by own desc, scope limit 1`.execute(db)
  return { bytes: Number(rows[0]?.bytes ?? 0), heaviest: rows[0]?.scope ?? '' }
}

/** Deletes the oldest responses of a caller, of so many bytes together and no more than 200; returns their bytes. */
export const pruneOldest: Command<{ scope: string; bytes: number }, number> = async (db, { scope, bytes }) => {
  const { rows } = await sql<{ size_bytes: number }>`
    delete from stored_response where scope = ${scope} and id in (
      select id from (
        select id, sum(size_bytes) over (order by created_at_ms, id) - size_bytes as older_bytes
        from (select id, size_bytes, created_at_ms from stored_response where scope = ${scope}
          order by created_at_ms, id limit ${sql.lit(PRUNED_AT_ONCE)}) as oldest
      ) as summed where older_bytes < ${bytes}
    ) returning size_bytes`.execute(db)
  return rows.reduce((sum, row) => sum + Number(row.size_bytes), 0)
}

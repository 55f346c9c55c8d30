import type { Connections } from './connection.ts'
import { sqlStateOf } from './sql-state.ts'

/**
 * DESIGN — entries in PostgreSQL
 *
 *   semantic_fact_1   scope │ key │ value │ vector │ bytes │ expires │ revision    what is known of scopes
 *   semantic_reply_1  key │ value │ bytes │ expires │ revision                     replies, and what was given to whom
 *   channel           turnpike_semantic_1                                          every fact as it is added
 *
 * In the schema in which the user's tables are made, where the gateway's own are. The number is the version of their
 * shape: gateways of two versions, during an upgrade, each have tables of their own. Not logged: writing costs no journal,
 * copies and backups of the server's files leave them out, and a server that crashes comes back with empty ones.
 */
export const FACTS = 'semantic_fact_1'
export const REPLIES = 'semantic_reply_1'
export const CHANNEL = 'turnpike_semantic_1'

/** Any number; processes that begin at the same time make the tables one after another. */
const LOCK = 7_306_414_021

/** Vectors stay in their row as long as one fits into a page: a scan then reads nothing else. */
const STATEMENTS = [
  'create extension if not exists vector',
  `create unlogged table if not exists ${FACTS} (
    scope text collate "C" not null, key text collate "C" not null, value bytea not null, vector halfvec,
    bytes integer not null, expires bigint not null, revision bigserial, primary key (scope, key)
  ) with (toast_tuple_target = 8160)`,
  `create unlogged table if not exists ${REPLIES} (
    key text collate "C" primary key, value bytea not null,
    bytes integer not null, expires bigint not null, revision bigserial)`,
  ...[FACTS, REPLIES].flatMap((table) => [
    `create index if not exists ${table}_revision on ${table} (revision) include (bytes)`,
    `create index if not exists ${table}_expires on ${table} (expires)`,
  ]),
]

/** Makes the tables, unless they are there. Rejects with what the server says when it does not let this user. */
export async function makeTables(connections: Connections): Promise<void> {
  const there = `select to_regclass('${FACTS}') is not null and to_regclass('${REPLIES}') is not null as "isThere"`
  const [found] = await connections.ask(there)
  if (found?.isThere === true) return
  await connections.transact(async (client) => {
    await client.query(`select pg_advisory_xact_lock(${LOCK})`)
    for (const statement of STATEMENTS) await client.query(statement)
  })
}

/**
 * SQLSTATEs that say that it will not do: no file of the extension (two of them, by version), no right to create it or
 * tables, an extension without `halfvec` (before 0.7) or in a schema that is not on the path, a database that is read-only.
 */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['58P01', '0A000', '42501', '42704', '3F000', '25006'])

/** Why entries cannot be kept in this database, if that is what the error of `makeTables` says. */
export function refusalOf(error: unknown): string | undefined {
  return REFUSALS.has(sqlStateOf(error)) && error instanceof Error ? error.message : undefined
}

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ConversationTurn, ListedRun, Run, RunPage, TurnPage } from '../../../core/telemetry/conversations.ts'
import { isAmong, type Scopes } from '../../../core/telemetry/telemetry.ts'
import type { Command } from '../engine/command.ts'
import { sumOf } from '../engine/sum.ts'
import type { Database } from '../schema.ts'
import { allOf, contains, within } from './conditions.ts'
import { CONVERSATION_SUMS, type UsageConversationTable } from './conversation-schema.ts'
import { type RunSums, type Sums, toRun } from './fold-conversations.ts'
import { toFinished } from './rows.ts'

const LONGEST_LIST = 500
/** Most rows of the conversations of a page; a run has one for each of its agents and their models. */
const MOST_ROWS = 5000
const SEARCHED = ['conversation_id', 'client', 'agent', 'provider', 'model'] as const
const MS_PER_SECOND = 1000

interface FoundRun {
  readonly root_id: string
  readonly newest_id: string
}

/** Lists the runs of scopes, newest first. The sums are those of the database, over all conversations of a run. */
export const listRuns: Command<RunPage & { scopes: Scopes }, ListedRun[]> = async (db, { scopes, ...page }) => {
  const found = await findRuns(db, scopes, page)
  if (found.length === 0) return []
  const roots = found.map(({ root_id }) => root_id)
  const byRoot = Map.groupBy(await rowsOfRuns(db, scopes, roots), (row) => row.root_id)
  const sums = await sumRuns(db, scopes, roots)
  return found.flatMap(({ root_id, newest_id }) => {
    const rows = byRoot.get(root_id)
    return rows === undefined ? [] : { ...toRun(root_id, rows, sums.get(root_id)), newestId: newest_id }
  })
}

/** Returns the page's runs, from an index alone where nothing is searched. */
async function findRuns(db: Kysely<Database>, scopes: Scopes, page: RunPage): Promise<FoundRun[]> {
  const { text, client, fromMs, after, limit } = page
  const matches: RawBuilder<SqlBool>[] = []
  if (text !== undefined && text !== '') matches.push(contains(SEARCHED, text))
  if (client !== undefined) matches.push(sql<SqlBool>`client = ${client}`)
  if (fromMs !== undefined) matches.push(sql<SqlBool>`last_at_ms >= ${fromMs}`)
  const newest = sql<string>`max(last_id)`
  let query = db
    .selectFrom('usage_conversation')
    .select(['root_id', newest.as('newest_id')])
    .where(allOf(within(scopes)))
    .groupBy('root_id')
    .orderBy('newest_id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (matches.length > 0)
    query = query.where((is) =>
      is(
        'root_id',
        'in',
        is
          .selectFrom('usage_conversation')
          .select('root_id')
          .where(allOf([...within(scopes), ...matches])),
      ),
    )
  if (after !== undefined) query = query.having(newest, '<', after)
  return query.execute()
}

function rowsOfRuns(
  db: Kysely<Database>,
  scopes: Scopes,
  roots: readonly string[],
): Promise<readonly UsageConversationTable[]> {
  return db
    .selectFrom('usage_conversation')
    .selectAll()
    .where('root_id', 'in', roots)
    .where(allOf(within(scopes)))
    .orderBy('last_id', 'desc')
    .limit(MOST_ROWS)
    .execute()
}

/** Adds up the rows of runs, also those that are too many to be listed. */
async function sumRuns(
  db: Kysely<Database>,
  scopes: Scopes,
  roots: readonly string[],
): Promise<ReadonlyMap<string, RunSums>> {
  const rows = await db
    .selectFrom('usage_conversation')
    .select(['root_id', sql<number>`count(distinct conversation_id)`.as('conversations')])
    .select(CONVERSATION_SUMS.map((column) => sumOf(column).as(column)))
    .where('root_id', 'in', roots)
    .where(allOf(within(scopes)))
    .groupBy('root_id')
    .execute()
  return new Map(
    // Safe: these columns were selected.
    rows.map(({ root_id, conversations, ...sums }) => [
      root_id,
      { conversations: Number(conversations), sums: sums as unknown as Sums },
    ]),
  )
}

/** Returns a conversation of scopes, with the sub-agents below it. */
export const findRun: Command<{ scopes: Scopes; id: string }, Run | undefined> = async (db, { scopes, id }) => {
  const rootId = await rootOf(db, scopes, id)
  if (rootId === undefined) return undefined
  const rows = await rowsOfRuns(db, scopes, [rootId])
  if (id !== rootId) return toRun(id, below(id, rows))
  return toRun(id, rows, (await sumRuns(db, scopes, [rootId])).get(rootId))
}

/** Returns the root of a conversation of these scopes; `undefined` for any other. */
async function rootOf(db: Kysely<Database>, scopes: Scopes, id: string): Promise<string | undefined> {
  const columns = ['root_id', 'scope'] as const
  const rows = db.selectFrom('usage_conversation').select(columns)
  // An id belongs to one scope: with the scope as well, SQLite would scan all rows of the scope.
  const own = await rows.where('conversation_id', '=', id).orderBy('last_id', 'desc').limit(1).executeTakeFirst()
  const known = own ?? (await rows.where('root_id', '=', id).limit(1).executeTakeFirst())
  return known !== undefined && isAmong(known.scope, scopes) ? known.root_id : undefined
}

/** Returns the rows of a conversation and of those that it has started, at any depth. */
function below(id: string, rows: readonly UsageConversationTable[]): UsageConversationTable[] {
  const ids = new Set([id])
  for (let size = 0; size !== ids.size; ) {
    size = ids.size
    for (const { parent_id: parentId, conversation_id: own } of rows)
      if (parentId !== null && ids.has(parentId)) ids.add(own)
  }
  return rows.filter((row) => ids.has(row.conversation_id))
}

/** Lists the ids of the sub-agents below a conversation of scopes, at any depth. */
export const listAgentIds: Command<TurnPage & { scopes: Scopes; id: string }, string[]> = async (
  db,
  { scopes, id, after = '', limit },
) => {
  const rootId = await rootOf(db, scopes, id)
  if (rootId === undefined) return []
  const below = sql<string>`(
    with recursive below(id) as (
      select cast(${id} as text)
      union select conversation_id from usage_conversation join below on root_id = ${rootId} and parent_id = below.id
    ) select id from below)`
  let query = db
    .selectFrom('usage_conversation')
    .select('conversation_id')
    .distinct()
    .where('root_id', '=', rootId)
    .where('conversation_id', '!=', id)
    .where('conversation_id', '>', after)
    .orderBy('conversation_id')
    .limit(Math.min(limit, LONGEST_LIST))
  if (id !== rootId) query = query.where('conversation_id', 'in', below)
  return (await query.execute()).map((row) => row.conversation_id)
}

/** Lists turns of a conversation of scopes, oldest first. */
export const listTurns: Command<TurnPage & { scopes: Scopes; id: string }, ConversationTurn[]> = async (
  db,
  { scopes, id, after, limit },
) => {
  if ((await rootOf(db, scopes, id)) === undefined) return []
  const before = after === undefined ? { number: 0, cost: 0 } : await sumUntil(db, id, after)
  let query = db
    .selectFrom('usage_request')
    .selectAll()
    .where('conversation_id', '=', id)
    .orderBy('id')
    .limit(Math.min(limit, LONGEST_LIST))
  if (after !== undefined) query = query.where('id', '>', after)
  let runningNanoUsd = before.cost
  return (await query.execute()).map(toFinished).map((request, index) => {
    runningNanoUsd += request.costNanoUsd ?? 0
    return { ...request, number: before.number + index + 1, runningNanoUsd, ...figuresOf(request) }
  })
}

/** Counts the turns of a conversation up to one, and adds up their cost. */
async function sumUntil(db: Kysely<Database>, id: string, last: string): Promise<{ number: number; cost: number }> {
  const { number, cost } = await db
    .selectFrom('usage_request')
    .select([sql<number>`count(*)`.as('number'), sumOf('cost_nano_usd').as('cost')])
    .where('conversation_id', '=', id)
    .where('id', '<=', last)
    .executeTakeFirstOrThrow()
  return { number: Number(number), cost: cost ?? 0 }
}

function figuresOf(
  request: ReturnType<typeof toFinished>,
): Pick<ConversationTurn, 'contextTokens' | 'tokensPerSecond'> {
  const { tokens, isStream, firstByteMs, totalMs } = request
  if (tokens === null) return { contextTokens: null, tokensPerSecond: null }
  const contextTokens = tokens.input + tokens.cacheRead + tokens.cacheWrite
  const streamMs = isStream && firstByteMs !== null ? totalMs - firstByteMs : 0
  if (contextTokens === 0) return { contextTokens: null, tokensPerSecond: null }
  return { contextTokens, tokensPerSecond: streamMs > 0 ? (tokens.output * MS_PER_SECOND) / streamMs : null }
}

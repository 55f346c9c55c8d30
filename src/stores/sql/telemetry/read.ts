import {
  type FinishedRequest,
  isAmong,
  type ListedRequest,
  type RequestPage,
  type Scopes,
} from '../../../core/telemetry/telemetry.ts'
import type { Command } from '../engine/command.ts'
import { allOf, codeOf, rowsThatFit, within } from './conditions.ts'
import { toFinished, toListed } from './rows.ts'
import { REQUEST_COLUMNS } from './schema.ts'

const LONGEST_LIST = 500
const LISTED = REQUEST_COLUMNS.filter((column) => column !== 'trace')

/** Lists requests of scopes, newest first. */
export const listRequests: Command<RequestPage & { scopes: Scopes }, ListedRequest[]> = async (
  db,
  { scopes, after, limit, ...filter },
) => {
  let query = db
    .selectFrom('usage_request')
    .select(LISTED)
    .where(allOf([...within(scopes), ...rowsThatFit(filter, codeOf(db))]))
    .orderBy('id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (after !== undefined) query = query.where('id', '<', after)
  return (await query.execute()).map(toListed)
}

/** Returns a request of these scopes with its trace, by its id or its request id. */
export const findRequest: Command<{ scopes: Scopes; id: string }, FinishedRequest | undefined> = async (
  db,
  { scopes, id },
) => {
  const record = await db
    .selectFrom('usage_request')
    .selectAll()
    .where((is) => is.or([is('id', '=', id), is('request_id', '=', id)]))
    .executeTakeFirst()
  // With the scope as well, SQLite would scan all rows of the scope.
  return record !== undefined && isAmong(record.scope, scopes) ? toFinished(record) : undefined
}

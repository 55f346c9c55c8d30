import { sql } from 'kysely'
import type { KeyFacts, ManagedKey, ManagedKeyPage, Subjects } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'
import { contains } from '../telemetry/conditions.ts'
import { STORED_KEY } from './keys.ts'

/** Lists keys, newest first. */
export const listManagedKeys: Command<ManagedKeyPage, ManagedKey[]> = async (db, page) => {
  let query = db
    .selectFrom('api_key')
    .leftJoin('account', 'account.id', 'account_id')
    .leftJoin('team', 'team.id', 'team_id')
    .select([...STORED_KEY, 'account.name as personName', 'team.name as teamName'])
    .orderBy('api_key.created_at_ms', 'desc')
    .orderBy('api_key.id', 'desc')
    .limit(page.limit)
  const { id, accountId, teamId, reach, isRevoked, search, after } = page
  if (id !== undefined) query = query.where('api_key.id', '=', id)
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (teamId !== undefined) query = query.where('team_id', '=', teamId)
  if (isRevoked !== undefined) query = query.where('revoked_at_ms', isRevoked ? 'is not' : 'is', null)
  if (reach !== undefined)
    query = query.where((is) =>
      is.or([is('account_id', '=', reach.accountId), is('team_id', 'in', ['', ...reach.teamIds])]),
    )
  if (search) query = query.where(contains(SEARCHED, search))
  if (after !== undefined)
    query = query.where(
      sql<boolean>`(api_key.created_at_ms, api_key.id) < (select created_at_ms, id from api_key where id = ${after})`,
    )
  return query.execute()
}

const SEARCHED = ['api_key.id', 'api_key.name', 'prefix', 'account_id', 'account.name', 'team.name', 'tags']

const MOST_FACTS = 10_000

/** Lists the keys of some people or teams, the newest first. */
export const listKeyFacts: Command<Subjects, KeyFacts[]> = async (db, { accountIds, teamIds }) => {
  let query = db
    .selectFrom('api_key')
    .select([
      'id',
      'account_id as accountId',
      'team_id as teamId',
      'last_used_at_ms as lastUsedAtMs',
      sql<number>`case when revoked_at_ms is null then 1 else 0 end`.as('isActive'),
    ])
    .orderBy('created_at_ms', 'desc')
    .limit(MOST_FACTS)
  if (accountIds !== undefined) query = query.where('account_id', 'in', ['', ...accountIds])
  if (teamIds !== undefined) query = query.where('team_id', 'in', ['', ...teamIds])
  return query.execute()
}

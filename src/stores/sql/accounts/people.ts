import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { Membership, PeoplePage, PersonChange, StoredPerson, Subjects } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { contains } from '../telemetry/conditions.ts'
import { ensureAccount } from './account.ts'
import { appendAudit } from './audit.ts'

const MOST_MEMBERSHIPS = 10_000

const PERSON = [
  'account.id as id',
  'account.name as name',
  'email',
  'account.role as role',
  'account.limits as limits',
  'account.created_at_ms as createdAtMs',
  'suspended_at_ms as suspendedAtMs',
  'last_seen_at_ms as lastSeenAtMs',
] as const

/** Lists people by id. */
export const listPeople: Command<PeoplePage, StoredPerson[]> = async (db, { id, reach, search, after, limit }) => {
  let query = db.selectFrom('account').select(PERSON).orderBy('account.id').limit(limit)
  if (id !== undefined) query = query.where('account.id', '=', id)
  if (after !== undefined) query = query.where('account.id', '>', after)
  if (search) query = query.where(contains(['account.id', 'account.name', 'email'], search))
  if (reach !== undefined)
    query = query.where((is) => {
      const members = db
        .selectFrom('team_member')
        .select('account_id')
        .where('team_id', 'in', ['', ...reach.teamIds])
      return is.or([is('account.id', '=', reach.accountId), is('account.id', 'in', members)])
    })
  return query.execute()
}

/** Creates a person before the first sign-in. Throws `invalid_request` when there is one already. */
export const createPerson: Command<PersonChange, StoredPerson> = async (db, change, now) => {
  if (!(await ensureAccount(db, change.id, now)))
    throw new GatewayError('invalid_request', `id: the person \`${change.id}\` exists already.`)
  await update(db, change)
  await appendAudit(db, change.audit, now)
  return db.selectFrom('account').select(PERSON).where('id', '=', change.id).executeTakeFirstOrThrow()
}

/** Changes a person; `undefined` when there is none of this id. */
export const changePerson: Command<PersonChange, StoredPerson | undefined> = async (db, change, now) => {
  await update(db, change)
  const row = await db.selectFrom('account').select(PERSON).where('id', '=', change.id).executeTakeFirst()
  if (row !== undefined) await appendAudit(db, change.audit, now)
  return row
}

async function update(db: Kysely<Database>, { id, name, email, role, limits }: PersonChange): Promise<void> {
  const changed = {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(role !== undefined && { role }),
    ...(limits !== undefined && { limits }),
  }
  if (Object.keys(changed).length === 0) return
  await db.updateTable('account').set(changed).where('id', '=', id).execute()
}

/** Lists memberships of people or teams, by the names of both, at most 10,000. */
export const listMemberships: Command<Subjects, Membership[]> = async (db, { accountIds, teamIds }) => {
  let query = db
    .selectFrom('team_member')
    .innerJoin('team', 'team.id', 'team_id')
    .innerJoin('account', 'account.id', 'account_id')
    .select([
      'team_id as teamId',
      'team.name as teamName',
      'account_id as accountId',
      'account.name as personName',
      'team_member.role as role',
      'source',
    ])
    .orderBy('folded_name')
    .orderBy('account_id')
    .limit(MOST_MEMBERSHIPS)
  if (accountIds !== undefined) query = query.where('account_id', 'in', ['', ...accountIds])
  if (teamIds !== undefined) query = query.where('team_id', 'in', ['', ...teamIds])
  return query.execute()
}

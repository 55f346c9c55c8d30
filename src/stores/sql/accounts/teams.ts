import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { AuditNote } from '../../../core/ports/audit.ts'
import type {
  MemberRole,
  MemberSource,
  MembershipChange,
  NewTeam,
  StoredTeam,
  TeamChange,
  TeamPage,
} from '../../../core/ports/people.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { contains } from '../telemetry/conditions.ts'
import { appendAudit } from './audit.ts'

const TEAM = ['id', 'name', 'limits', 'created_at_ms as createdAtMs', 'archived_at_ms as archivedAtMs'] as const
const MOST_TEAMS = 1000
const MOST_MEMBERS = 1000

/** Lists teams by name, archived ones last. */
export const listTeams: Command<TeamPage, StoredTeam[]> = async (db, { ids, accountId, search, limit }) => {
  let query = db.selectFrom('team').select(TEAM).limit(limit)
  if (ids !== undefined) query = query.where('id', 'in', ['', ...ids])
  if (search) query = query.where(contains(['id', 'name'], search))
  if (accountId !== undefined) {
    const own = db.selectFrom('team_member').select('team_id').where('account_id', '=', accountId)
    query = query.where('id', 'in', own)
  }
  return query
    .orderBy((of) => of.case().when('archived_at_ms', 'is', null).then(0).else(1).end())
    .orderBy('folded_name')
    .execute()
}

/** Creates a team. Throws `invalid_request` when the name is taken, in any case, and beyond 1,000 teams. */
export const createTeam: Command<NewTeam, StoredTeam> = async (db, { id, name, limits, audit }, now) => {
  await assertFreeName(db, { id, name })
  const { count } = await db
    .selectFrom('team')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= MOST_TEAMS) throw new GatewayError('invalid_request', `There are ${count} teams, which is the most.`)
  const team = { id, name, folded_name: name.toLowerCase(), limits, created_at_ms: now, archived_at_ms: null }
  const row = await db.insertInto('team').values(team).returning(TEAM).executeTakeFirstOrThrow()
  await appendAudit(db, audit, now)
  return row
}

/** Changes a team; `undefined` when there is none of this id. Throws `invalid_request` for a name that is taken. */
export const changeTeam: Command<TeamChange, StoredTeam | undefined> = async (db, change, now) => {
  const { id, name, limits, isArchived, audit } = change
  if (name !== undefined) await assertFreeName(db, { id, name })
  const row = await db
    .updateTable('team')
    .set({
      id,
      ...(name !== undefined && { name, folded_name: name.toLowerCase() }),
      ...(limits !== undefined && { limits }),
      ...(isArchived !== undefined && { archived_at_ms: isArchived ? now : null }),
    })
    .where('id', '=', id)
    .returning(TEAM)
    .executeTakeFirst()
  if (row !== undefined) await appendAudit(db, audit, now)
  return row
}

async function assertFreeName(db: Kysely<Database>, { id, name }: { id: string; name: string }): Promise<void> {
  const other = await db
    .selectFrom('team')
    .select('id')
    .where('folded_name', '=', name.toLowerCase())
    .where('id', '!=', id)
    .executeTakeFirst()
  if (other !== undefined) throw new GatewayError('invalid_request', `name: a team is named \`${name}\` already.`)
}

/**
 * Sets or removes a membership; removal suspends the person's keys of the team. Returns false when there is no such
 * team, person or membership. Throws `invalid_request` for an archived team and beyond 1,000 members.
 */
export const setMembership: Command<MembershipChange, boolean> = async (db, change, now) => {
  const { teamId, accountId } = change
  const isChanged =
    change.role === null
      ? await removeMember(db, { teamId, accountId, end: change.audit }, now)
      : await putMember(db, change)
  if (isChanged) await appendAudit(db, change.audit, now)
  return isChanged
}

async function putMember(db: Kysely<Database>, { teamId, accountId, role, isByLead }: MembershipChange) {
  const team = await db.selectFrom('team').select('archived_at_ms').where('id', '=', teamId).executeTakeFirst()
  const person = await db.selectFrom('account').select('id').where('id', '=', accountId).executeTakeFirst()
  if (team === undefined || person === undefined || role === null) return false
  if (team.archived_at_ms !== null) throw new GatewayError('invalid_request', 'An archived team takes no members.')
  if (isByLead) return changeRole(db, { teamId, accountId }, role)
  const { count } = await db
    .selectFrom('team_member')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow()
  if (count >= MOST_MEMBERS) throw new GatewayError('invalid_request', `The team has ${count} members, the most.`)
  await db
    .insertInto('team_member')
    .values({ team_id: teamId, account_id: accountId, role, source: 'set' })
    .onConflict((conflict) => conflict.columns(['team_id', 'account_id']).doUpdateSet({ role, source: 'set' }))
    .execute()
  return true
}

async function changeRole(
  db: Kysely<Database>,
  { teamId, accountId }: Omit<Part, 'end'>,
  role: MemberRole,
): Promise<boolean> {
  const changed = await db
    .updateTable('team_member')
    .set({ role })
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .returning('role')
    .executeTakeFirst()
  return changed !== undefined
}

/** A person's part in a team; with a source only a membership of that source. */
interface Part {
  readonly teamId: string
  readonly accountId: string
  readonly source?: MemberSource
  /** Audit entry of its end, as far as those of its keys need it. */
  readonly end: Pick<AuditNote, 'id' | 'actor'>
}

/** Removes a membership and suspends the person's keys of the team, each with an audit entry. Returns false when there is no such membership. */
export async function removeMember(
  db: Kysely<Database>,
  { teamId, accountId, source, end: { id, actor } }: Part,
  now: Moment,
): Promise<boolean> {
  let remove = db.deleteFrom('team_member').where('team_id', '=', teamId).where('account_id', '=', accountId)
  if (source !== undefined) remove = remove.where('source', '=', source)
  const removed = await remove.returning('account_id').executeTakeFirst()
  if (removed === undefined) return false
  const suspended = await db
    .updateTable('api_key')
    .set({ suspended_at_ms: now })
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .where('suspended_at_ms', 'is', null)
    .where('revoked_at_ms', 'is', null)
    .returning(['id', 'name'])
    .execute()
  for (const { id: keyId, name } of suspended) {
    const details = { name, team: teamId, reason: 'team.member-removed' }
    // A sign-in may also end the key with its session.
    const note = { id: `${id}_suspended_${keyId}`, accountId, actor, action: 'key.suspended', subject: keyId, details }
    await appendAudit(db, note, now)
  }
  return true
}

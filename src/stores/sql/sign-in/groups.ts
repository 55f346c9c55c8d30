import type { Kysely } from 'kysely'
import type { GroupTeam, SignedIn } from '../../../core/ports/sign-in.ts'
import { appendAudit } from '../accounts/audit.ts'
import { removeMember } from '../accounts/teams.ts'
import type { Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'

type Source = 'set' | 'groups'
type Db = Kysely<Database>

/**
 * Makes the memberships that come from groups equal to those of the present groups: adds, changes and removes them; the
 * person's keys of a team that is left are suspended. Memberships that were set by hand are neither changed nor replaced,
 * those of an archived team stay while their group does. Joins the sign-in's transaction.
 */
export async function followGroups(db: Db, { accountId, teams, audit }: SignedIn, now: Moment): Promise<void> {
  const held = await db
    .selectFrom('team_member')
    .select(['team_id as teamId', 'role', 'source'])
    .where('account_id', '=', accountId)
    .execute()
  const known = new Map<string, { role: string; source: Source }>(held.map(({ teamId, ...rest }) => [teamId, rest]))
  const note = (action: string, teamId: string, details: Readonly<Record<string, unknown>>) => {
    const id = `${audit.id}_${action}_${teamId}`
    return appendAudit(db, { id, accountId, actor: 'groups', action, subject: teamId, details }, now)
  }
  const wanted = new Set<string>()
  for (const team of teams) {
    const found = await findTeam(db, team, now)
    if (found === undefined) continue
    const { teamId } = found
    if (teamId === team.newId) await note('team.created', teamId, {})
    wanted.add(teamId)
    if (found.archivedAtMs !== null) continue
    const role = team.isLead ? 'lead' : 'member'
    const before = known.get(teamId)
    if (before?.source === 'set' || before?.role === role) continue
    const member = { role, source: 'groups' } as const
    await db
      .insertInto('team_member')
      .values({ team_id: teamId, account_id: accountId, ...member })
      .onConflict((conflict) =>
        conflict.columns(['team_id', 'account_id']).doUpdateSet(member).where('team_member.source', '=', 'groups'),
      )
      .execute()
    await note('team.member-set', teamId, { role })
  }
  for (const [teamId, { source }] of known) {
    if (source === 'set' || wanted.has(teamId)) continue
    const isRemoved = await removeMember(db, { teamId, accountId, source, end: { id: audit.id, actor: 'groups' } }, now)
    if (isRemoved) await note('team.member-removed', teamId, {})
  }
}

/** Returns a team, which is created if there is none. */
async function findTeam(db: Db, { team, newId }: GroupTeam, now: Moment) {
  const folded = team.toLowerCase()
  await db
    .insertInto('team')
    .values({ id: newId, name: team, folded_name: folded, limits: null, created_at_ms: now, archived_at_ms: null })
    .onConflict((conflict) => conflict.column('folded_name').doNothing())
    .execute()
  return db
    .selectFrom('team')
    .select(['id as teamId', 'archived_at_ms as archivedAtMs'])
    .where('folded_name', '=', folded)
    .executeTakeFirst()
}

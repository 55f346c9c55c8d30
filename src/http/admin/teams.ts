import type Router from '@koa/router'
import type { ListedTeam, Teams } from '../../accounts/people/teams.ts'
import { assertMayManage, type Viewer } from '../dashboard/viewer.ts'
import type { RequestState } from '../request-context.ts'
import { actorOf, type ChangeOptions, pageOf, parameter, readChange, readPage, replyEmpty } from './admin-request.ts'

const PATH = '/v1/admin/teams'

/**
 * Adds the routes of teams. Operators manage all of them; leads manage the members of theirs, but not its limits, which
 * bound the lead too; members see the figures of their teams without the other members.
 */
export function addTeams(router: Router<RequestState>, teams: Teams, options: ChangeOptions): void {
  const { viewer } = options
  router.get(PATH, async function listTeams(ctx) {
    const seer = await viewer(ctx)
    const { search, limit } = readPage(ctx)
    const found = await teams.list({ search, limit, ...ownTeams(seer) })
    ctx.body = pageOf(
      found.map((team) => shownTo(seer, team)),
      { limit },
    )
  })
  router.post(PATH, async function createTeam(ctx) {
    const seer = await viewer(ctx)
    assertMayManage(seer, {})
    ctx.body = await teams.create(actorOf(seer), await readChange(ctx, options, seer))
    ctx.status = 201
  })
  router.get(`${PATH}/:id`, async function showTeam(ctx) {
    const seer = await viewer(ctx)
    const id = parameter(ctx, 'id')
    const [team] = await teams.list({ ids: [id], limit: 1, ...ownTeams(seer) })
    if (team === undefined) assertMayManage(seer, {})
    ctx.body = team === undefined ? await teams.show(id) : shownTo(seer, team)
  })
  router.patch(`${PATH}/:id`, async function changeTeam(ctx) {
    const seer = await viewer(ctx)
    assertMayManage(seer, {})
    ctx.body = await teams.change(actorOf(seer), parameter(ctx, 'id'), await readChange(ctx, options, seer))
  })
  router.put(`${PATH}/:id/members/:person`, async function setMember(ctx) {
    const seer = await viewer(ctx)
    const member = { teamId: parameter(ctx, 'id'), accountId: parameter(ctx, 'person') }
    assertMayManage(seer, { teamId: member.teamId })
    const body = await readChange(ctx, options, seer)
    const change = { ...member, isByLead: !seer.isOperator }
    ctx.body = { role: await teams.setMember(actorOf(seer), change, body) }
  })
  router.delete(`${PATH}/:id/members/:person`, async function removeMember(ctx) {
    const seer = await viewer(ctx)
    const member = { teamId: parameter(ctx, 'id'), accountId: parameter(ctx, 'person') }
    assertMayManage(seer, { teamId: member.teamId })
    await teams.removeMember(actorOf(seer), member)
    replyEmpty(ctx)
  })
}

/** Limits a list to the teams of a member or lead. */
function ownTeams({ isOperator, mayChange, userId }: Viewer): { accountId?: string | undefined } {
  return isOperator || !mayChange ? {} : { accountId: userId }
}

/** Returns a team without its members for one who is only a member. */
function shownTo({ isOperator, mayChange, teamIds }: Viewer, team: ListedTeam): Omit<ListedTeam, 'members'> {
  if (isOperator || !mayChange || teamIds.includes(team.id)) return team
  const { members: _, ...rest } = team
  return rest
}

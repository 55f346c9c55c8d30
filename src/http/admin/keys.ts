import type Router from '@koa/router'
import type { Context } from 'koa'
import type { ManagedKeys } from '../../accounts/keys/managed-keys.ts'
import { assertMayManage, type Viewer } from '../dashboard/viewer.ts'
import type { RequestState } from '../request-context.ts'
import {
  actorOf,
  type ChangeOptions,
  pageOf,
  parameter,
  reachOf,
  readChange,
  readPage,
  replyEmpty,
} from './admin-request.ts'

const PATH = '/v1/admin/keys'

/**
 * Adds the routes of all accounts' keys: operators manage all, leads those of their teams. A lead's own keys are shown, but
 * changed at `/v1/keys`: an owner must not lift what a manager has set.
 */
export function addKeys(router: Router<RequestState>, keys: ManagedKeys, options: ChangeOptions): void {
  const { viewer } = options
  const managed = async (ctx: Context): Promise<{ seer: Viewer; id: string; actor: string }> => {
    const seer = await viewer(ctx)
    const id = parameter(ctx, 'id')
    const key = await keys.find(id)
    const isOwn = key?.accountId === seer.userId
    assertMayManage(seer, isOwn ? {} : { teamId: key?.teamId })
    return { seer, id, actor: actorOf(seer) }
  }
  router.get(PATH, async function listKeys(ctx) {
    const reach = reachOf(await viewer(ctx))
    const { search, after, limit, person, team, revoked } = readPage(ctx)
    const isRevoked = revoked === undefined ? undefined : revoked === 'true'
    const page = { search, after, limit, accountId: person, teamId: team, isRevoked, reach }
    ctx.body = pageOf(await keys.list(page), { limit })
  })
  router.post(PATH, async function createKey(ctx) {
    const seer = await viewer(ctx)
    const fields = keys.parse(await readChange(ctx, options, seer))
    assertMayManage(seer, { teamId: fields.teamId })
    ctx.body = await keys.create(actorOf(seer), fields)
    ctx.status = 201
  })
  router.get(`${PATH}/:id`, async function showKey(ctx) {
    const seer = await viewer(ctx)
    const [key] = await keys.list({ id: parameter(ctx, 'id'), reach: reachOf(seer), limit: 1 })
    if (key === undefined) assertMayManage(seer, {})
    ctx.body = key ?? (await keys.show(parameter(ctx, 'id')))
  })
  router.patch(`${PATH}/:id`, async function changeKey(ctx) {
    const { seer, id, actor } = await managed(ctx)
    const fields = keys.parseChange(await readChange(ctx, options, seer))
    if (fields.teamId !== undefined) assertMayManage(seer, { teamId: fields.teamId })
    ctx.body = await keys.change(actor, id, fields)
  })
  router.delete(`${PATH}/:id`, async function revokeKey(ctx) {
    const { id, actor } = await managed(ctx)
    await keys.revoke(actor, id)
    replyEmpty(ctx)
  })
  router.post(`${PATH}/:id/rotate`, async function rotateKey(ctx) {
    const { seer, id, actor } = await managed(ctx)
    ctx.body = await keys.rotate(actor, id, await readChange(ctx, options, seer))
  })
  for (const action of ['suspend', 'resume'] as const)
    router.post(`${PATH}/:id/${action}`, async function suspendKey(ctx) {
      const { id, actor } = await managed(ctx)
      ctx.body = await keys.suspend(actor, id, action === 'suspend')
    })
}

import type Router from '@koa/router'
import type { People } from '../../accounts/people/people.ts'
import { assertMayManage, assertOperator } from '../dashboard/viewer.ts'
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

const PATH = '/v1/admin/people'

/** Adds the routes of people: operators manage all, leads see their teams' members, and each user sees itself. */
export function addPeople(router: Router<RequestState>, people: People, options: ChangeOptions): void {
  const { viewer } = options
  router.get(PATH, async function listPeople(ctx) {
    const reach = reachOf(await viewer(ctx))
    const { search, after, limit } = readPage(ctx)
    ctx.body = pageOf(await people.list({ search, after, limit, reach }), { limit })
  })
  router.post(PATH, async function createPerson(ctx) {
    const seer = await viewer(ctx)
    assertMayManage(seer, {})
    ctx.body = await people.create(actorOf(seer), await readChange(ctx, options, seer))
    ctx.status = 201
  })
  router.get(`${PATH}/:id`, async function showPerson(ctx) {
    const seer = await viewer(ctx)
    const id = parameter(ctx, 'id')
    const [person] = await people.list({ id, reach: reachOf(seer), limit: 1 })
    if (person === undefined) assertMayManage(seer, {})
    ctx.body = person ?? (await people.show(id))
  })
  router.patch(`${PATH}/:id`, async function changePerson(ctx) {
    const seer = await viewer(ctx)
    assertMayManage(seer, {})
    ctx.body = await people.change(actorOf(seer), parameter(ctx, 'id'), await readChange(ctx, options, seer))
  })
  for (const action of ['suspend', 'resume'] as const)
    router.post(`${PATH}/:id/${action}`, async function suspendPerson(ctx) {
      const seer = await viewer(ctx)
      assertOperator(seer, 'Suspensions')
      await people.suspend(actorOf(seer), parameter(ctx, 'id'), action === 'suspend')
      replyEmpty(ctx)
    })
}

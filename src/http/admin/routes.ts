import type Router from '@koa/router'
import type { ManagedKeys } from '../../accounts/keys/managed-keys.ts'
import type { People } from '../../accounts/people/people.ts'
import type { Tags } from '../../accounts/people/tags.ts'
import type { Teams } from '../../accounts/people/teams.ts'
import type { AuditRecord } from '../../core/ports/audit.ts'
import type { RecentAudit } from '../../core/ports/people.ts'
import type { BodyIntake } from '../body-intake.ts'
import { assertMayManage, type ReadViewer, type Viewer } from '../dashboard/viewer.ts'
import type { RequestState } from '../request-context.ts'
import { actorOf, pageOf, parameter, readChange, readPage } from './admin-request.ts'
import { addKeys } from './keys.ts'
import { addPeople } from './people.ts'
import { addTeams } from './teams.ts'

/** Parts of the administration of people, teams, keys and tags. */
export interface AdminParts {
  readonly viewer: ReadViewer
  readonly people: People
  readonly teams: Teams
  readonly keys: ManagedKeys
  readonly tags: Tags
  /** Lists audit entries, newest first. */
  readonly audit: (page: RecentAudit) => Promise<readonly AuditRecord[]>
}

/** Adds the routes of administration: `/v1/admin/people`, `teams`, `keys`, `tags` and `audit`. */
export function addAdmin(router: Router<RequestState>, parts: AdminParts, intake: BodyIntake): void {
  const options = { viewer: parts.viewer, intake }
  addPeople(router, parts.people, options)
  addTeams(router, parts.teams, options)
  addKeys(router, parts.keys, options)
  router.get('/v1/admin/tags', async function listTags(ctx) {
    assertSeesAll(await parts.viewer(ctx))
    ctx.body = { data: await parts.tags.list(), has_more: false }
  })
  router.put('/v1/admin/tags/:name', async function setTag(ctx) {
    const seer = await parts.viewer(ctx)
    assertMayManage(seer, {})
    ctx.body = await parts.tags.set(actorOf(seer), parameter(ctx, 'name'), await readChange(ctx, options, seer))
  })
  router.get('/v1/admin/audit', async function listAudit(ctx) {
    const seer = await parts.viewer(ctx)
    const { after, limit, person } = readPage(ctx)
    if (person !== seer.userId) assertSeesAll(seer)
    const entries = await parts.audit({ accountId: person, after, limit })
    const data = entries.map(({ atMs, ...entry }) => ({ ...entry, at: new Date(atMs).toISOString() }))
    ctx.body = pageOf(data, { limit })
  })
}

/** Throws `permission_error` for members and leads, whose view is not the whole. */
function assertSeesAll(seer: Viewer): void {
  if (seer.mayChange) assertMayManage(seer, {})
}

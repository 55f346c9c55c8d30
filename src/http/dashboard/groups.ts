import type { Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { isNamed, type Named, nameIn } from '../../core/ports/names.ts'
import type { Telemetry } from '../../core/telemetry/telemetry.ts'
import { type Dimension, GROUPS, type GroupBy, MOST_GROUPS, type UsageGroup } from '../../core/telemetry/usage.ts'
import type { RequestState } from '../request-context.ts'
import { type CsvColumns, sendCsv, usd } from './csv.ts'
import { type NameOptions, namesFor, type WantedNames } from './names.ts'
import { limit, readQuery } from './query.ts'
import { FILTER_SHAPE, toFilter } from './usage-query.ts'
import type { ReadViewer } from './viewer.ts'

/** Dependencies of the routes of groups. */
export interface GroupRouteOptions extends NameOptions {
  readonly viewer: ReadViewer
  readonly telemetry: Pick<Telemetry, 'groups'>
  readonly clock: Clock
}

const query = z.strictObject({
  ...FILTER_SHAPE,
  by: z.enum(GROUPS).optional(),
  /** `rows`: as lists have them; sums are kept longer. */
  of: z.enum(['rows', 'sums']).default('sums'),
  limit,
})

/** A group with the name behind its id. */
type TitledGroup = UsageGroup & { readonly title: string | null }

const COLUMNS: CsvColumns<TitledGroup> = [
  ['name', ({ name }) => name],
  ['title', ({ title }) => title],
  ['requests', ({ requests }) => requests],
  ['errors', ({ errors }) => errors],
  ['unfinished', ({ unfinished }) => unfinished],
  ['cost_usd', ({ costNanoUsd }) => usd(costNanoUsd)],
  ['ceiling_usd', ({ ceilingNanoUsd }) => usd(ceilingNanoUsd)],
  ['unpriced', ({ unpriced }) => unpriced],
  ['saved_usd', ({ savedNanoUsd }) => usd(savedNanoUsd)],
  ['input_tokens', ({ tokens }) => tokens.input],
  ['output_tokens', ({ tokens }) => tokens.output],
  ['cache_read_tokens', ({ tokens }) => tokens.cacheRead],
  ['cache_write_tokens', ({ tokens }) => tokens.cacheWrite],
]

/**
 * `GET /dashboard/api/groups?by=team&range=7d`: returns sums of the viewer's requests that match the filter, by a property, the
 * dearest first, and their total; the total alone without `by`.
 */
export function groupsRoute({ viewer, telemetry, names, clock }: GroupRouteOptions): Middleware<RequestState> {
  return async function groups(ctx) {
    const user = await viewer(ctx)
    const { by, of, limit, ...given } = readQuery(query, ctx)
    const filter = toFilter(given, clock.nowMs())
    const { groups, hasMore, total } = await telemetry.groups(user.scopes, {
      ...filter,
      by,
      limit,
      isOfRows: of === 'rows',
    })
    ctx.body = {
      by: by ?? null,
      fromMs: filter.fromMs ?? null,
      toMs: filter.toMs ?? null,
      data: groups,
      has_more: hasMore,
      total,
      names: await namesFor(user, wantedOf(by, groups, given), names),
    }
  }
}

/** `GET /dashboard/api/groups.csv`: returns all groups as a file. Throws `invalid_request` for more than 20,000. */
export function groupsFileRoute({ viewer, telemetry, names, clock }: GroupRouteOptions): Middleware<RequestState> {
  return async function groupsFile(ctx) {
    const user = await viewer(ctx)
    const { by = 'model', of, limit: _, ...given } = readQuery(query, ctx)
    const asked = { ...toFilter(given, clock.nowMs()), by, limit: MOST_GROUPS, isOfRows: of === 'rows' }
    const { groups, hasMore } = await telemetry.groups(user.scopes, asked)
    if (hasMore)
      throw new GatewayError('invalid_request', `There are more than ${MOST_GROUPS} groups: choose a shorter range.`)
    const from = (after: UsageGroup | undefined) =>
      after === undefined ? 0 : groups.findIndex(({ name }) => name === after.name) + 1
    const titled = async (page: readonly UsageGroup[]): Promise<readonly TitledGroup[]> => {
      const found = await namesFor(user, wantedOf(by, page), names)
      return page.map((group) => ({ ...group, title: isNamed(by) ? nameIn(found, by, group.name) : null }))
    }
    sendCsv<TitledGroup>(ctx, {
      name: `turnpike-by-${by}.csv`,
      user,
      viewer,
      columns: COLUMNS,
      page: (after, most) => titled(groups.slice(from(after), from(after) + most)),
    })
  }
}

/** Returns the ids whose names a reply shows: those of its groups, and of its filter. */
function wantedOf(
  by: GroupBy | undefined,
  groups: readonly UsageGroup[],
  filter: Partial<Readonly<Record<Dimension, string | undefined>>> = {},
): WantedNames {
  const names = groups.map(({ name }) => name)
  const of = (kind: Named) => [...(by === kind ? names : []), filter[kind]]
  return { key: of('key'), person: of('person'), team: of('team') }
}

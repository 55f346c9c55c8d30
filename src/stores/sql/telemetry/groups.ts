import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { GroupQuery, RequestFilter, Scopes, UsagePeriod } from '../../../core/telemetry/telemetry.ts'
import {
  type GroupBy,
  MOST_GROUPS,
  modulesOf,
  SLICE_MS,
  type UsageGroup,
  type UsageGroups,
  WITHOUT,
} from '../../../core/telemetry/usage.ts'
import type { Command } from '../engine/command.ts'
import { sumOf } from '../engine/sum.ts'
import type { Database } from '../schema.ts'
import { allOf, type Condition, codeOf, rowsBetween, rowsThatFit, slicesThatFit, within } from './conditions.ts'
import { dearestRuns } from './dearest-runs.ts'
import { FIGURE_SUMS, type FigureSum, figuresOf, ROW_FIGURES, toFigures } from './figures.ts'
import { firstSliceIdAt } from './slices.ts'

/** Groups that are added up here: lists of tags and of modules, before they are taken apart. */
const MOST_READ = MOST_GROUPS + 1

type Sums = { readonly name: string } & Readonly<Record<FigureSum, number>>

/** Returns the sums of requests of scopes by a property, the dearest first, from slices where these suffice. */
export const readGroups: Command<GroupQuery & { scopes: Scopes }, UsageGroups> = async (db, { scopes, ...query }) => {
  const { by, limit, isOfRows = false, ...filter } = query
  const period = isOfRows ? await keptPeriod(db, filter) : filter
  const read = (name: GroupBy | undefined, most: number) =>
    readSums(db, { by: name, most, scopes, filter: { ...filter, ...period } })
  const total = async () => toFigures(figuresOf(await read(undefined, 1)))
  if (by === undefined) return { groups: [], hasMore: false, total: await total() }
  const most = Math.min(limit, MOST_GROUPS)
  const isOfLists = namesIn(by) !== undefined
  const mostRead = isOfLists ? MOST_READ : most + 1
  const sums = await read(by, mostRead)
  const isAll = sums.length < mostRead
  const groups = isOfLists ? takenApart(sums, namesIn(by)) : sums
  return {
    groups: groups.slice(0, most).map(toGroup),
    hasMore: groups.length > most || !isAll,
    total: isAll && by !== 'reason' ? toFigures(figuresOf(sums)) : await total(),
  }
}

function toGroup(sums: Sums): UsageGroup {
  return { name: sums.name === '' ? WITHOUT : sums.name, ...toFigures(sums) }
}

/** Returns the function that reads several names out of a column's text; `undefined` where it has one name. */
function namesIn(by: GroupBy): ((text: string) => readonly string[]) | undefined {
  if (by === 'module') return modulesOf
  // Safe: only rows' own lists of names are in it.
  if (by === 'tag') return (text) => (text === '' ? [] : (JSON.parse(text) as string[]))
  return undefined
}

/** Counts the sums of a list of names for each of them. */
function takenApart(lists: readonly Sums[], names: (text: string) => readonly string[] = () => []): Sums[] {
  const byName = new Map<string, Sums[]>()
  for (const list of lists) {
    const found = names(list.name)
    for (const name of found.length === 0 ? [''] : found) byName.set(name, [...(byName.get(name) ?? []), list])
  }
  return [...byName]
    .map(([name, own]) => ({ name, ...figuresOf(own) }))
    .toSorted((a, b) => b.cost_nano_usd - a.cost_nano_usd || b.requests - a.requests || (a.name < b.name ? -1 : 1))
}

/** Begins a period with the oldest row that is kept, since lists have none before it. */
async function keptPeriod(db: Kysely<Database>, { fromMs = 0, toMs }: UsagePeriod): Promise<UsagePeriod> {
  const oldest = await db.selectFrom('usage_request').select('started_at_ms').orderBy('id').limit(1).executeTakeFirst()
  return { fromMs: Math.max(fromMs, oldest?.started_at_ms ?? 0), toMs }
}

interface Reading {
  readonly by: GroupBy | undefined
  readonly most: number
  readonly scopes: Scopes
  readonly filter: RequestFilter
}

async function readSums(db: Kysely<Database>, { by, most, scopes, filter }: Reading): Promise<Sums[]> {
  const code = codeOf(db)
  const inScopes = within(scopes)
  const sources: RawBuilder<unknown>[] = []
  const runs = by === 'conversation' && isOfAll(scopes, filter) ? [await dearestRuns(db, filter, most)] : []
  const addRows = (period: UsagePeriod): void => {
    const conditions = [...inScopes, ...rowsBetween(period), ...rowsThatFit(filter, code), ...runs]
    if (by === 'reason') conditions.push(sql`reason is not null`)
    sources.push(selectRows(by === undefined ? sql`''` : rowName(by, code), conditions))
  }
  if (isOfRowsAlone(by, filter)) addRows({})
  else {
    const { sums, edges } = partsOf(filter)
    for (const edge of edges) addRows(edge)
    if (sums !== undefined)
      sources.push(selectSlices(by, [...inScopes, ...slicesBetween(sums), ...slicesThatFit(filter)]))
  }
  const columns = FIGURE_SUMS.map((column) => sql`${sumOf(column)} as ${sql.ref(column)}`)
  const { rows } =
    await sql<Sums>`select name, ${sql.join(columns)} from (${sql.join(sources, sql` union all `)}) as figures
    group by name order by ${sumOf('cost_nano_usd')} desc, ${sumOf('requests')} desc, name limit ${sql.lit(most)}`.execute(
      db,
    )
  return rows
}

/** Returns true for a query of all requests of a period. */
function isOfAll(scopes: Scopes, { fromMs: _from, toMs: _to, ...filter }: RequestFilter): boolean {
  return (
    typeof scopes === 'object' && 'everybody' in scopes && Object.values(filter).every((member) => member === undefined)
  )
}

/** Slices know no single conversations, reasons and texts. */
function isOfRowsAlone(by: GroupBy | undefined, { text, cache, ended, reason, conversation }: RequestFilter): boolean {
  if (by === 'conversation' || by === 'reason') return true
  return [text || undefined, cache, ended, reason, conversation].some((member) => member !== undefined)
}

/** Splits a period into whole slices, and what lies before and after them. */
function partsOf({ fromMs = 0, toMs }: UsagePeriod): { sums: UsagePeriod | undefined; edges: UsagePeriod[] } {
  const first = Math.ceil(fromMs / SLICE_MS) * SLICE_MS
  const end = toMs === undefined ? undefined : Math.floor(toMs / SLICE_MS) * SLICE_MS
  if (end !== undefined && end <= first) return { sums: undefined, edges: [{ fromMs, toMs }] }
  const edges = [
    { fromMs, toMs: first },
    { fromMs: end ?? 0, toMs: toMs ?? 0 },
  ]
  return { sums: { fromMs: first, toMs: end }, edges: edges.filter((edge) => edge.fromMs < edge.toMs) }
}

function slicesBetween({ fromMs = 0, toMs }: UsagePeriod): Condition[] {
  const from = sql<boolean>`id >= ${firstSliceIdAt(fromMs)}`
  return toMs === undefined ? [from] : [from, sql`id < ${firstSliceIdAt(toMs)}`]
}

function selectRows(name: RawBuilder<unknown>, conditions: readonly Condition[]): RawBuilder<unknown> {
  const figures = FIGURE_SUMS.map((column) => sql`${ROW_FIGURES[column]} as ${sql.ref(column)}`)
  return sql`select ${name} as name, ${sql.join(figures)} from usage_request where ${allOf(conditions)}`
}

function selectSlices(by: GroupBy | undefined, conditions: readonly Condition[]): RawBuilder<unknown> {
  const name = by === undefined ? sql`''` : SLICE_NAMES[by]
  const figures = sql.join(FIGURE_SUMS.map((column) => sql.ref(column)))
  return sql`select ${name} as name, ${figures} from usage_slice where ${allOf(conditions)}`
}

const SLICE_NAMES: Readonly<Record<GroupBy, RawBuilder<unknown>>> = {
  key: sql.ref('key_id'),
  person: sql.ref('user_id'),
  team: sql.ref('team_id'),
  tag: sql.ref('tags'),
  client: sql.ref('client'),
  provider: sql.ref('provider'),
  model: sql`case when model = '' then '' else provider || '/' || model end`,
  module: sql.ref('modules'),
  conversation: sql`''`,
  reason: sql`''`,
}

function rowName(by: GroupBy, code: RawBuilder<string>): RawBuilder<unknown> {
  switch (by) {
    case 'reason':
      return code
    case 'conversation':
      return sql`coalesce(root_id, conversation_id, '')`
    case 'module':
      return sql.ref('pipeline')
    case 'model':
      return sql`case when outcome = 'error' or coalesce(status, 0) >= 400 or model_served is null then ''
        else coalesce(provider, '') || '/' || model_served end`
    default:
      return sql`coalesce(${SLICE_NAMES[by]}, '')`
  }
}

import { type RawBuilder, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { Scopes, UsageRange, UsageSums, ZoneOffset } from '../../../core/telemetry/telemetry.ts'
import { type DimensionFilter, SLICE_MS } from '../../../core/telemetry/usage.ts'
import type { Command } from '../engine/command.ts'
import { sumOf } from '../engine/sum.ts'
import { allOf, slicesThatFit, within } from './conditions.ts'
import { toFigures } from './figures.ts'
import { GATEWAY_COLUMNS, SUM_COLUMNS, type UsageHourTable } from './schema.ts'
import { firstSliceIdAt } from './slices.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** From the Monday before 1970 to its first day, a Thursday: weeks begin with Mondays. */
const MONDAY_MS = 3 * DAY_MS
const WEEK_MS = 7 * DAY_MS
const US_PER_MS = 1000
const MOST_STEPS = 1000
/** Far above a scope's models times the steps of a chart. */
const MOST_SUMS = 20_000

/** Returns the usage of scopes in each step of a range, by provider and model, oldest first. Throws `invalid_request` for the range. */
export const readUsage: Command<UsageRange & DimensionFilter & { scopes: Scopes }, UsageSums[]> = async (
  db,
  { scopes, fromMs, toMs, stepMs, offsets = [], ...filter },
) => {
  assertRange({ fromMs, toMs, stepMs })
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const isOfHours = !isFiltered && offsets.every(({ offsetMs }) => offsetMs % HOUR_MS === 0)
  const [table, column] = isOfHours ? (['usage_hour', 'hour_ms'] as const) : (['usage_slice', 'slice_ms'] as const)
  const lengthMs = isOfHours ? HOUR_MS : SLICE_MS
  const firstMs = Math.floor(fromMs / lengthMs) * lengthMs
  const at = sql.ref(column)
  const step = stepOf(at, stepMs, offsets)
  const columns = SUM_COLUMNS.map((name) => sql`${sumOf(name)} as ${sql.ref(name)}`)
  const { rows } = await sql<Hour>`
    select provider, model, ${step} as hour_ms, ${sql.join(columns)} from ${sql.table(table)}
    where ${allOf([
      ...within(scopes),
      ...(isOfHours
        ? [sql<boolean>`hour_ms >= ${firstMs}`, sql<boolean>`hour_ms < ${toMs}`]
        : [sql<boolean>`id >= ${firstSliceIdAt(firstMs)}`, sql<boolean>`id < ${firstSliceIdAt(toMs)}`]),
      ...(isOfHours ? [] : slicesThatFit(filter)),
    ])}
    group by ${step}, provider, model order by ${step}, provider, model limit ${sql.lit(MOST_SUMS)}`.execute(db)
  return rows.map(toSums)
}

type Hour = Omit<UsageHourTable, 'scope'>

/** Returns the step in which a moment lies, by the clock of the range's zone. */
function stepOf(at: RawBuilder<unknown>, stepMs: number, offsets: readonly ZoneOffset[]): RawBuilder<unknown> {
  const cases = offsets.slice(1).toReversed()
  const whens = cases.map(({ fromMs, offsetMs }) => sql`when ${at} >= ${sql.lit(fromMs)} then ${sql.lit(offsetMs)}`)
  const first = sql.lit(offsets[0]?.offsetMs ?? 0)
  const offset = whens.length === 0 ? first : sql`case ${sql.join(whens, sql` `)} else ${first} end`
  const local = sql`(${at} + ${offset})`
  const anchor = sql.lit(stepMs % WEEK_MS === 0 ? MONDAY_MS : 0)
  return sql`${local} - (${local} + ${anchor}) % ${sql.lit(stepMs)}`
}

/** Throws `invalid_request` for a range without an end after its beginning, or with too many steps. */
export function assertRange({ fromMs, toMs, stepMs }: UsageRange): void {
  const refuse = (words: string) => new GatewayError('invalid_request', words)
  if (![fromMs, toMs].every((ms) => Number.isSafeInteger(ms) && ms >= 0) || fromMs >= toMs)
    throw refuse(`Expected a range whose end lies after its beginning, got ${fromMs} to ${toMs}.`)
  if (!Number.isSafeInteger(stepMs) || stepMs <= 0 || stepMs % HOUR_MS !== 0)
    throw refuse(`Expected a step of whole hours, in milliseconds, got ${stepMs}.`)
  if ((toMs - fromMs) / stepMs > MOST_STEPS)
    throw refuse(`Expected at most ${MOST_STEPS} steps, got ${Math.ceil((toMs - fromMs) / stepMs)}.`)
}

function toSums(hour: Hour): UsageSums {
  return {
    fromMs: hour.hour_ms,
    provider: hour.provider,
    model: hour.model,
    ...toFigures(hour),
    gatewayMs: hour.gateway_us / US_PER_MS,
    gatewayTimes: GATEWAY_COLUMNS.map((column) => hour[column] ?? 0),
  }
}

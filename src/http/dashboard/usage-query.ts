import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { RequestFilter, UsagePeriod } from '../../core/telemetry/telemetry.ts'
import { DIMENSIONS, type Dimension, type DimensionFilter } from '../../core/telemetry/usage.ts'
import { momentOf, type TimeZone, timeZoneOf } from '../../core/time-zone.ts'
import { wholeNumber } from './query.ts'
import { customRange, namedRange, type StepRange } from './usage-range.ts'

const LONGEST_VALUE = 400
const DAY_MS = 86_400_000
const LOCAL = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?))?$/
const MILLISECONDS = /^\d{1,14}$/
const value = z.string().min(1).max(LONGEST_VALUE).optional()

/** Properties of a query, whose values are strings. */
const DIMENSION_SHAPE = Object.fromEntries(DIMENSIONS.map((name) => [name, value])) as Record<Dimension, typeof value> // safe: these are its keys

/** Members of a query that name a range: `range`, or `from` and `to`, on the clock of `tz`. */
const PERIOD_SHAPE = { range: value, from: value, to: value, tz: z.string().min(1).default('UTC') }

/** Members of a query that filter requests. */
export const FILTER_SHAPE = {
  ...DIMENSION_SHAPE,
  ...PERIOD_SHAPE,
  text: z.string().max(200).optional(),
  cache: z.enum(['hit', 'attached', 'miss', 'none']).optional(),
  ended: z.enum(['complete', 'failed', 'refused']).optional(),
  reason: value,
  fromMs: wholeNumber.optional(),
  toMs: wholeNumber.optional(),
}

/** Members of a query of charts. */
export const CHART_SHAPE = { ...DIMENSION_SHAPE, ...PERIOD_SHAPE }

type Given<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** Returns the filter of a query, its range as moments. Throws `invalid_request`. */
export function toFilter(given: Given<typeof FILTER_SHAPE>, nowMs: number): RequestFilter {
  const { range, from, to, tz, ...filter } = given
  return { ...filter, ...periodOf(given, nowMs) }
}

/** Returns the range of a chart, of the last day by default, and its filter. Throws `invalid_request`. */
export function toChart(
  given: Given<typeof CHART_SHAPE>,
  nowMs: number,
): { range: StepRange; filter: DimensionFilter } {
  const { range: name, from, to, tz, ...filter } = given
  const zone = timeZoneOf(tz)
  if (from === undefined && to === undefined) return { range: namedRange(name ?? '24h', zone, nowMs), filter }
  if (from === undefined) throw new GatewayError('invalid_request', 'from: expected the begin of the range.')
  const fromMs = parseMoment('from', from, zone)
  return { range: customRange({ fromMs, toMs: to === undefined ? nowMs : parseMoment('to', to, zone) }, zone), filter }
}

function periodOf({ range, from, to, tz, fromMs, toMs }: Given<typeof FILTER_SHAPE>, nowMs: number): UsagePeriod {
  const zone = timeZoneOf(tz)
  if (range !== undefined) {
    const found = namedRange(range, zone, nowMs)
    return { fromMs: found.fromMs, toMs: found.toMs }
  }
  return {
    fromMs: from === undefined ? fromMs : parseMoment('from', from, zone),
    toMs: to === undefined ? toMs : parseMoment('to', to, zone),
  }
}

/**
 * Parses a date or time on the zone's clock, or milliseconds since 1970. A date alone is its begin as `from`, and its end as
 * `to`. Throws `invalid_request`.
 */
function parseMoment(name: 'from' | 'to', text: string, zone: TimeZone): number {
  if (MILLISECONDS.test(text)) return Number(text)
  const [, day, time] = LOCAL.exec(text) ?? []
  const localMs = day === undefined ? Number.NaN : Date.parse(`${day}T${time ?? '00:00'}Z`)
  if (!Number.isFinite(localMs) || localMs < 0)
    throw new GatewayError(
      'invalid_request',
      `${name}: expected \`2026-11-23\`, \`2026-11-23T09:30\` or milliseconds, got \`${text.slice(0, 40)}\`.`,
    )
  return momentOf(name === 'to' && time === undefined ? localMs + DAY_MS : localMs, zone)
}

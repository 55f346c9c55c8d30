import { GatewayError } from '../../core/errors.ts'
import type { UsageRange } from '../../core/telemetry/telemetry.ts'
import { SLICE_MS } from '../../core/telemetry/usage.ts'
import { momentOf, offsetsIn, type TimeZone } from '../../core/time-zone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
/** Weeks begin with Mondays; 1970 began with a Thursday. */
const MONDAY_MS = 3 * DAY_MS
const LONGEST_MS = 1000 * WEEK_MS

/** Ranges up to now, with steps that a chart can show. */
const RANGES: Readonly<Record<string, { lengthMs: number; stepMs: number }>> = {
  '24h': { lengthMs: DAY_MS, stepMs: HOUR_MS },
  '7d': { lengthMs: 7 * DAY_MS, stepMs: 6 * HOUR_MS },
  '30d': { lengthMs: 30 * DAY_MS, stepMs: DAY_MS },
  '12mo': { lengthMs: 53 * WEEK_MS, stepMs: WEEK_MS },
}
/** Days on the zone's calendar, as their distance from today. */
const DAYS: Readonly<Record<string, number>> = { today: 0, yesterday: 1 }
/** Longest ranges with steps of this length. */
const STEPS = [
  [2 * DAY_MS, HOUR_MS],
  [14 * DAY_MS, 6 * HOUR_MS],
  [150 * DAY_MS, DAY_MS],
] as const

/** A range in steps on the clock of a zone. */
export interface StepRange extends UsageRange {
  /** Begin of each step as a moment, by its begin on the zone's clock. */
  readonly steps: ReadonlyMap<number, number>
}

/** Returns a named range that ends with the current step, or a day. Throws `invalid_request`. */
export function namedRange(name: string, zone: TimeZone, nowMs: number): StepRange {
  const localMs = nowMs + zone.offsetAt(nowMs)
  const daysAgo = DAYS[name]
  if (daysAgo !== undefined) {
    const beginMs = stepBegin(localMs, DAY_MS) - daysAgo * DAY_MS
    return inSteps({ fromMs: momentOf(beginMs, zone), toMs: momentOf(beginMs + DAY_MS, zone) }, HOUR_MS, zone)
  }
  const found = RANGES[name]
  if (found === undefined) {
    const names = [...Object.keys(DAYS), ...Object.keys(RANGES)].join(', ')
    throw new GatewayError('invalid_request', `range: expected ${names}, got \`${name}\`.`)
  }
  const endMs = stepBegin(localMs, found.stepMs) + found.stepMs
  const fromMs = Math.max(0, momentOf(endMs - found.lengthMs, zone))
  return inSteps({ fromMs, toMs: momentOf(endMs, zone) }, found.stepMs, zone)
}

/** Returns a range in steps of a length that a chart can show; it begins and ends with whole quarters of an hour. */
export function customRange(given: { fromMs: number; toMs: number }, zone: TimeZone): StepRange {
  const fromMs = Math.floor(given.fromMs / SLICE_MS) * SLICE_MS
  const toMs = Math.ceil(given.toMs / SLICE_MS) * SLICE_MS
  const lengthMs = toMs - fromMs
  if (lengthMs <= 0) throw new GatewayError('invalid_request', 'to: expected a time after `from`.')
  if (lengthMs > LONGEST_MS) throw new GatewayError('invalid_request', 'from: expected at most 1000 weeks before `to`.')
  return inSteps({ fromMs, toMs }, STEPS.find(([longestMs]) => lengthMs <= longestMs)?.[1] ?? WEEK_MS, zone)
}

/** Days and weeks follow the zone's changes of its clock; hours have the offset of the range's begin. */
function inSteps({ fromMs, toMs }: { fromMs: number; toMs: number }, stepMs: number, zone: TimeZone): StepRange {
  const all = offsetsIn({ fromMs, toMs }, zone)
  const offsets = stepMs < DAY_MS ? all.slice(0, 1) : all
  const firstMs = offsets[0]?.offsetMs ?? 0
  const toMoment = (localMs: number) => (stepMs < DAY_MS ? localMs - firstMs : momentOf(localMs, zone))
  const steps = new Map<number, number>()
  const beginMs = stepBegin(fromMs + firstMs, stepMs)
  for (let localMs = beginMs; toMoment(localMs) < toMs; localMs += stepMs)
    steps.set(localMs, Math.max(fromMs, toMoment(localMs)))
  return { fromMs, toMs, stepMs, offsets, steps }
}

function stepBegin(localMs: number, stepMs: number): number {
  const anchorMs = stepMs % WEEK_MS === 0 ? MONDAY_MS : 0
  return localMs - ((localMs + anchorMs) % stepMs)
}

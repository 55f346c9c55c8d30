import { GatewayError } from './errors.ts'
import type { ZoneOffset } from './telemetry/telemetry.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const QUARTER_MS = 15 * MINUTE_MS
const LONGEST_NAME = 64
const OFFSET = /^GMT(?:([+-])(\d\d):(\d\d))?/

/** A time zone of the IANA database. */
export interface TimeZone {
  readonly name: string
  /** Returns its offset from UTC at a moment, in milliseconds; above zero east of Greenwich. */
  offsetAt(ms: number): number
}

/** Returns a zone by its name, `Asia/Kolkata` or `UTC`. Throws `invalid_request`. */
export function timeZoneOf(name: string): TimeZone {
  const format = formatOf(name)
  return {
    name,
    offsetAt(ms) {
      const text = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(text) ?? []
      const offsetMs = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
      return sign === '-' ? -offsetMs : offsetMs
    },
  }
}

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    if (name.length > LONGEST_NAME) throw new RangeError('too long')
    return new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' })
  } catch {
    throw new GatewayError(
      'invalid_request',
      `tz: expected a time zone as \`Europe/Berlin\`, got \`${name.slice(0, LONGEST_NAME)}\`.`,
    )
  }
}

/** Returns the moment at which a zone's clock shows a time, the first of two; a skipped time is the moment of the change. */
export function momentOf(localMs: number, zone: TimeZone): number {
  const before = localMs - zone.offsetAt(localMs - DAY_MS)
  const after = localMs - zone.offsetAt(localMs + DAY_MS)
  const shown = [before, after].filter((ms) => ms + zone.offsetAt(ms) === localMs)
  return shown.length === 0 ? before : Math.min(...shown)
}

/** Returns the offsets of a zone in a range, oldest first; the first also holds before it. Looks once for each day. */
export function offsetsIn({ fromMs, toMs }: { fromMs: number; toMs: number }, zone: TimeZone): ZoneOffset[] {
  const offsets: ZoneOffset[] = [{ fromMs, offsetMs: zone.offsetAt(fromMs) }]
  for (let atMs = fromMs; atMs < toMs; atMs += DAY_MS) {
    const nextMs = Math.min(toMs, atMs + DAY_MS)
    const offsetMs = zone.offsetAt(nextMs)
    if (offsetMs !== offsets.at(-1)?.offsetMs) offsets.push({ fromMs: changeIn([atMs, nextMs], zone), offsetMs })
  }
  return offsets
}

/** Returns the first quarter of an hour with the later offset. */
function changeIn([fromMs, toMs]: readonly [number, number], zone: TimeZone): number {
  const before = zone.offsetAt(fromMs)
  let [low, high] = [Math.floor(fromMs / QUARTER_MS), Math.ceil(toMs / QUARTER_MS)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offsetAt(middle * QUARTER_MS) === before) low = middle
    else high = middle
  }
  return high * QUARTER_MS
}

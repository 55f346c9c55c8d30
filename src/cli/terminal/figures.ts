import { toUsd } from '../../core/money/usd.ts'
/** Placeholder for an empty value. */
export const NOTHING = '–'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const coarse = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 0 })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Formats nano-USD as dollars in at most 8 characters, with as many significant digits as fit. */
export function usd(nanoUsd: number | null): string {
  if (nanoUsd === null) return NOTHING
  const dollars = toUsd(Math.abs(nanoUsd))
  const sign = nanoUsd < 0 ? '-' : ''
  if (dollars === 0) return '$0'
  if (dollars >= 1000) return `${sign}$${compact.format(dollars)}`
  if (dollars >= 0.1) return `${sign}$${dollars.toFixed(2)}`
  return dollars >= 0.0001 ? `${sign}$${dollars.toFixed(4)}` : `${sign}<$.0001`
}

/** Formats nano-USD as dollars to the millionth, for two amounts that are compared. */
export function fineUsd(nanoUsd: number | null): string {
  return nanoUsd === null ? NOTHING : `$${toUsd(nanoUsd).toFixed(6)}`
}

/** Formats a count in at most 4 characters: in full below a thousand, else like `1.2K` or `123K`. */
export function count(amount: number): string {
  if (amount < 1000) return String(amount)
  return amount < 9950 ? compact.format(amount) : coarse.format(amount)
}

/** Formats milliseconds in at most 6 characters; as seconds from a second on. */
export function duration(ms: number | null): string {
  if (ms === null) return NOTHING
  if (ms >= 99_950) return `${Math.round(ms / 1000)}s`
  if (ms >= 9995) return `${(ms / 1000).toFixed(1)}s`
  if (ms >= 999.5) return `${(ms / 1000).toFixed(2)}s`
  return ms >= 9.95 ? `${Math.round(ms)}ms` : `${ms.toFixed(1)}ms`
}

/** Formats the time of day in this machine's zone. */
export function timeOfDay(atMs: number): string {
  return clock.format(atMs)
}

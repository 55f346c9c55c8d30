/** Stands where there is nothing to show. */
export const NOTHING = '–'

const NANO = 1e9
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const coarse = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 0 })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Nano-USD as dollars in at most 8 characters, with as many digits as tell something. */
export function usd(nanoUsd: number | null): string {
  if (nanoUsd === null) return NOTHING
  const dollars = Math.abs(nanoUsd) / NANO
  const sign = nanoUsd < 0 ? '-' : ''
  if (dollars === 0) return '$0'
  if (dollars >= 1000) return `${sign}$${compact.format(dollars)}`
  if (dollars >= 0.1) return `${sign}$${dollars.toFixed(2)}`
  return dollars >= 0.0001 ? `${sign}$${dollars.toFixed(4)}` : `${sign}<$.0001`
}

/** Nano-USD as dollars to the millionth, for two figures that are compared. */
export function fineUsd(nanoUsd: number | null): string {
  return nanoUsd === null ? NOTHING : `$${(nanoUsd / NANO).toFixed(6)}`
}

/** A count in at most 4 characters: in full below a thousand, else like `1.2K` or `123K`. */
export function count(amount: number): string {
  if (amount < 1000) return String(amount)
  return amount < 9950 ? compact.format(amount) : coarse.format(amount)
}

/** Milliseconds in at most 6 characters; seconds when there are many. */
export function duration(ms: number | null): string {
  if (ms === null) return NOTHING
  if (ms >= 99_950) return `${Math.round(ms / 1000)}s`
  if (ms >= 9995) return `${(ms / 1000).toFixed(1)}s`
  if (ms >= 999.5) return `${(ms / 1000).toFixed(2)}s`
  return ms >= 9.95 ? `${Math.round(ms)}ms` : `${ms.toFixed(1)}ms`
}

/** The time of day, of this machine. */
export function timeOfDay(atMs: number): string {
  return clock.format(atMs)
}

const NANO = 1e9
const whole = new Intl.NumberFormat('en')
const signed = new Intl.NumberFormat('en', { signDisplay: 'exceptZero' })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const date = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' })
const fullDate = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', year: 'numeric' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const LARGEST_WHOLE = 99_999
const DAY_MS = 86_400_000
const SECOND_MS = 1000
/** Units of long times, in seconds. */
const SPANS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** Placeholder for an empty value. */
export const NOTHING = '–'

/** Formats nano-USD as dollars, with as many significant digits as needed. */
export function usd(nanoUsd: number | null | undefined): string {
  if (nanoUsd === null || nanoUsd === undefined) return NOTHING
  const dollars = Math.abs(nanoUsd) / NANO
  const sign = nanoUsd < 0 ? '−' : ''
  if (dollars === 0) return '$0'
  if (dollars >= 1000) return `${sign}$${whole.format(Math.round(dollars))}`
  if (dollars >= 0.1) return `${sign}$${dollars.toFixed(2)}`
  if (dollars >= 0.001) return `${sign}$${dollars.toFixed(4)}`
  return `${sign}$${dollars.toFixed(6)}`
}

/** Formats savings: a range where a provider does not report its prompt cache. */
export function savedRange(sums: { readonly savedNanoUsd: number; readonly savedMoreNanoUsd: number }): string {
  return usdRange(sums.savedNanoUsd, sums.savedMoreNanoUsd)
}

/** Formats an amount; a range where it may be visibly more. */
export function usdRange(leastNanoUsd: number, moreNanoUsd: number): string {
  const least = usd(leastNanoUsd)
  const most = usd(leastNanoUsd + moreNanoUsd)
  return least === most ? least : `${least} to ${most}`
}

/** Formats a count; in full as long as it is short. */
export function count(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return NOTHING
  return Math.abs(amount) <= LARGEST_WHOLE ? whole.format(amount) : compact.format(amount)
}

/** Formats credits, of which a balance needs each. */
export function credits(amount: number): string {
  return whole.format(amount)
}

/** Formats a change of credits with its sign. */
export function change(amount: number): string {
  return signed.format(amount)
}

/** Formats a speed. */
export function tokensPerSecond(amount: number | null): string {
  return amount === null ? NOTHING : count(Math.round(amount))
}

/** Formats milliseconds, or seconds from a second on. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOTHING
  if (ms === 0) return '0 ms'
  if (ms >= 9950) return `${(ms / 1000).toFixed(1)} s`
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`
  if (ms >= 10) return `${Math.round(ms)} ms`
  return `${ms.toFixed(ms >= 1 ? 1 : 2)} ms`
}

/** Formats a long time in its two largest units: `45 s`, `15 min`, `2 h 5 min`, `3 d`. */
export function span(ms: number): string {
  const seconds = Math.round(ms / SECOND_MS)
  const first = SPANS.findIndex(([, length]) => seconds >= length)
  if (first < 0) return '0 s'
  let left = seconds
  const parts = SPANS.slice(first, first + 2).flatMap(([unit, length]) => {
    const amount = Math.floor(left / length)
    left -= amount * length
    return amount === 0 ? [] : `${amount} ${unit}`
  })
  return parts.join(' ')
}

/** Formats a share of 1 in per cent. */
export function percent(share: number | undefined): string {
  if (share === undefined || !Number.isFinite(share)) return NOTHING
  const value = share * 100
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`
}

/** Formats a moment: its time, and its day unless that is today. */
export function moment(atMs: number, nowMs = Date.now()): string {
  const at = new Date(atMs)
  return Math.abs(nowMs - atMs) < DAY_MS && at.getDate() === new Date(nowMs).getDate()
    ? time.format(at)
    : `${date.format(at)} ${time.format(at)}`
}

/** Formats the day of a moment, with its year. */
export function day(atMs: number): string {
  return fullDate.format(atMs)
}

/** Formats the label of a chart's step: its time, or its day. */
export function stepLabel(atMs: number, isTime: boolean): string {
  return (isTime ? clock : date).format(atMs)
}

/** Returns the time zone of this browser, in which moments are shown. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Formats bytes in a suitable unit. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KB`
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

/** Prints a value as JSON that may wrap between the members of a list. */
export function printed(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value).replaceAll('","', '", "')
}

/** Control characters, and those that change the direction of text: they would hide or move text. */
const UNSEEN = /[\0-\x08\x0B-\x1F\x7F\u200B-\u200F\u202A-\u202E\u2066-\u2069]/g

/** Replaces invisible characters of a text. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase()}⟩`
  })
}

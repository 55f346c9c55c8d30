import type { Step } from './steps.ts'

const DURATION =
  /\b(\d{1,7}(?:\.\d{1,9})?) ?(ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b|\belapsed\W{1,3}(\d{1,3}):(\d\d)(?::(\d\d))?/gi
/** Durations that are compared, from the beginning of a result. */
const MOST_DURATIONS = 8
const LONGEST_TEXT = 64 * 1024
/** Least growth from step to step: run times of one command scatter, also upwards. */
const LEAST_GROWTH_MS = 1000

/**
 * Tests whether a duration in the results grows from each step to the next by a second at least, as the elapsed time of a
 * build does. `steps` come from the end.
 */
export function hasProgress(steps: readonly Step[]): boolean {
  const rows = steps.map(durationsOf).reverse()
  const [first = []] = rows
  return first.some((_, column) =>
    rows.every((row, index) => index === 0 || grows(rows[index - 1]?.[column], row[column])),
  )
}

function grows(before: number | undefined, after: number | undefined): boolean {
  return before !== undefined && after !== undefined && after - before >= LEAST_GROWTH_MS
}

/** Returns the first durations of a step's results, in milliseconds. */
function durationsOf({ calls }: Step): number[] {
  const text = calls.map(({ result }) => result.slice(0, LONGEST_TEXT)).join('\n')
  const found: number[] = []
  for (const [, amount, unit = '', hours, minutes, seconds] of text.matchAll(DURATION)) {
    if (found.length === MOST_DURATIONS) break
    found.push(amount === undefined ? clockMs(hours, minutes, seconds) : Number(amount) * unitMs(unit.toLowerCase()))
  }
  return found
}

/** Returns a clock’s time in milliseconds: `1:30` and `0:01:30` are equal. */
function clockMs(first = '0', second = '0', third?: string): number {
  const [hours, minutes, seconds] = third === undefined ? [0, first, second] : [first, second, third]
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
}

function unitMs(unit: string): number {
  if (unit === 'ms') return 1
  if (unit.startsWith('s')) return 1000
  return unit.startsWith('m') ? 60_000 : 3_600_000
}

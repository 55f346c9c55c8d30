import { isNamed, type Names, nameIn } from '../../src/core/ports/names.ts'
import { DIMENSIONS, type Dimension, type GroupBy, WITHOUT } from '../../src/core/telemetry/usage.ts'
import { moment, timeZone } from './format.ts'

/** Names of properties. */
export const DIMENSION_TITLES: Readonly<Record<GroupBy, string>> = {
  model: 'Model',
  provider: 'Provider',
  key: 'Key',
  person: 'Person',
  team: 'Team',
  tag: 'Tag',
  client: 'Client',
  conversation: 'Conversation',
  module: 'Module',
  reason: 'Reason',
}

/** Named ranges. */
export const RANGES = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['24h', 'Day'],
  ['7d', 'Week'],
  ['30d', 'Month'],
  ['12mo', 'Year'],
] as const

const PERIOD = ['range', 'from', 'to', 'tz'] as const

/** Members of a page's address that select requests: values of properties, and a range. */
export type UsageFilter = Readonly<Partial<Record<Dimension | (typeof PERIOD)[number], string>>>

/** Reads the filter out of a page's address. */
export function usageFilterOf(query: URLSearchParams): UsageFilter {
  const given = [...DIMENSIONS, ...PERIOD].flatMap((name) => {
    const value = query.get(name)
    return value === null || value === '' ? [] : [[name, value]]
  })
  return Object.fromEntries(given) as UsageFilter // safe: these are its keys
}

/** Prints members as a query, with the browser's time zone where a range needs one. */
export function usageQuery(given: Readonly<Record<string, string | undefined>>): string {
  const needsZone = given.range !== undefined || given.from !== undefined || given.to !== undefined
  const zone = needsZone ? { tz: given.tz ?? timeZone() } : {}
  return addressQuery({ ...given, ...zone })
}

/** Prints members as the query of a page's address. */
function addressQuery(given: Readonly<Record<string, string | undefined>>): string {
  return new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])),
  ).toString()
}

/** Returns the address of a page with these members; changes without a value remove one. */
export function addressOf(page: string, given: Readonly<Record<string, string | undefined>>): string {
  const query = addressQuery(given)
  return `#/${page}${query === '' ? '' : `?${query}`}`
}

/** Prints the name of a group: of a key, a person or a team by its name where that is known. */
export function groupTitle(by: GroupBy, name: string, names?: Names): string {
  if (name !== WITHOUT) return (names && isNamed(by) ? nameIn(names, by, name) : null) ?? name
  return by === 'model' || by === 'provider' ? 'No response' : 'none'
}

/** Prints a custom range. */
export function rangeTitle({ range, from, to }: UsageFilter): string {
  if (from === undefined && to === undefined) return RANGES.find(([name]) => name === range)?.[1] ?? 'All'
  return `${from === undefined ? 'the first' : shownMoment(from)} to ${to === undefined ? 'now' : shownMoment(to)}`
}

function shownMoment(text: string): string {
  return /^\d+$/.test(text) ? moment(Number(text)) : text.replace('T', ' ')
}

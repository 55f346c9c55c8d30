import type { Reach } from './people.ts'

/** Properties of requests whose values are ids of something with a name. */
export const NAMED = ['key', 'person', 'team'] as const

/** A property whose values have names. */
export type Named = (typeof NAMED)[number]

/** Query of names; ids without a name are left out of its result. */
export interface NameQuery {
  /** At most 500 of each. */
  readonly ids: Readonly<Record<Named, readonly string[]>>
  /** Bounds of what the viewer may see; unset: everything. */
  readonly reach?: Reach | undefined
}

/** Name of a key, a person or a team. */
export interface FoundName {
  readonly of: Named
  readonly id: string
  readonly name: string
}

/** Finds names. Rejects with `service_unavailable` while the database cannot be reached. */
export type FindNames = (query: NameQuery) => Promise<readonly FoundName[]>

/** Names by id; ids without a name, and names that the viewer may not see, are left out. */
export type Names = Readonly<Record<Named, Readonly<Record<string, string>>>>

/** Sorts names by what they name. */
export function toNames(found: readonly FoundName[]): Names {
  const of = (kind: Named) => Object.fromEntries(found.flatMap((row) => (row.of === kind ? [[row.id, row.name]] : [])))
  return { key: of('key'), person: of('person'), team: of('team') }
}

/** Returns a name; `null` for an id without one. */
export function nameIn(names: Names, of: Named, id: string | null): string | null {
  return id !== null && Object.hasOwn(names[of], id) ? (names[of][id] ?? null) : null
}

/** Returns whether the values of a property are ids of something with a name. */
export function isNamed(property: string): property is Named {
  return NAMED.some((name) => name === property)
}

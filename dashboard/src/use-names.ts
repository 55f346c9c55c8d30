import { useEffect, useRef, useState } from 'preact/hooks'
import { NAMED, type Named, type Names } from '../../src/core/ports/names.ts'
import type { ListedRequest } from '../../src/core/telemetry/telemetry.ts'
import { call } from './api.ts'

/** Most ids in one call: the length of an address is bounded. */
const MOST_AT_ONCE = 100
const NONE: Names = { key: {}, person: {}, team: {} }

/** Ids whose names a page shows. */
export type WantedNames = Readonly<Partial<Record<Named, readonly (string | null | undefined)[]>>>

/** Returns the ids of rows of requests. */
export function idsOf(rows: readonly Pick<ListedRequest, 'keyId' | 'userId'>[]): WantedNames {
  return { key: rows.map(({ keyId }) => keyId), person: rows.map(({ userId }) => userId) }
}

/** Returns the names of ids, loaded once as new ids appear. Until then, and without a name, ids are shown. */
export function useNames(wanted: WantedNames): Names {
  const [names, setNames] = useState<Names>(NONE)
  const asked = useRef(new Set<string>())
  const ids = NAMED.flatMap((of) => (wanted[of] ?? []).map((id) => [of, id] as const))
  const unknown = [...new Map(ids.map(([of, id]) => [`${of} ${id}`, [of, id] as const]))]
    .filter(
      (entry): entry is [string, readonly [Named, string]] => Boolean(entry[1][1]) && !asked.current.has(entry[0]),
    )
    .slice(0, MOST_AT_ONCE)
  const query = new URLSearchParams(unknown.map(([, [of, id]]) => [of, id])).toString()
  useEffect(() => {
    if (query === '') return
    for (const [key] of unknown) asked.current.add(key)
    call<Names>(`/dashboard/api/names?${query}`).then(
      (found) => setNames((old) => merged(old, found)),
      () => {}, // the ids stay
    )
  }, [query])
  return names
}

function merged(old: Names, found: Names): Names {
  return {
    key: { ...old.key, ...found.key },
    person: { ...old.person, ...found.person },
    team: { ...old.team, ...found.team },
  }
}

import { toUsd } from '../../core/money/usd.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { KeyFacts, PeopleStore } from '../../core/ports/people.ts'
import { scopeOfKey } from '../../core/request/caller.ts'
import type { RecentRefusal } from '../../core/telemetry/recent.ts'
import { toTime } from '../keys/key-records.ts'

/** Spend and refusals of a key, a person, a team or a tag, in UTC. */
export interface Figures {
  /** Spent and held, in USD. */
  readonly spend: { readonly day: number; readonly month: number }
  /** Requests refused today, at most the newest 5,000 of all, with the latest reason. */
  readonly refused: { readonly count: number; readonly reason: string | null; readonly at: string | null }
}

/** Subjects whose figures are read together. */
export interface FigureSubjects {
  readonly ids: readonly string[]
  /** Returns the scope of its caps. */
  readonly scopeOf: (id: string) => string
  /** Its keys; by id. */
  readonly keysOf: ReadonlyMap<string, readonly string[]>
  /** Returns the ids to which a refusal belongs. */
  readonly refusedOf: (refusal: RecentRefusal) => readonly (string | null)[]
}

const DAY_CHARACTERS = 10
const MONTH_CHARACTERS = 7

/**
 * Reads spend and refusals of all of these, in three statements. Spend is the higher of a cap's window, which begins when the
 * cap is set but counts requests that still run, and of the recorded requests.
 */
export async function readFigures(
  store: Pick<PeopleStore, 'spend' | 'keySpend' | 'refusals'>,
  { ids, scopeOf, keysOf, refusedOf }: FigureSubjects,
  clock: Clock,
): Promise<(id: string) => Figures> {
  const now = toTime(clock.nowMs())
  const [day, month] = [now.slice(0, DAY_CHARACTERS), now.slice(0, MONTH_CHARACTERS)]
  const [dayMs, monthMs] = [Date.parse(day), Date.parse(`${month}-01`)]
  const scopes = [...new Set([...keysOf.values()].flat())].map(scopeOfKey)
  const [windows, recorded, refusals] = await Promise.all([
    store.spend({ scopes: ids.map(scopeOf), windows: [`d:${day}`, `m:${month}`] }),
    store.keySpend({ scopes, dayMs, monthMs }),
    store.refusals({ sinceMs: dayMs }),
  ])
  const held = new Map(windows.map(({ scope, window, nanoUsd }) => [`${window[0]} ${scope}`, nanoUsd]))
  const spent = new Map(recorded.map((key) => [key.scope, key]))
  const refused = latestBy(refusals, refusedOf)
  return (id) => {
    const keys = (keysOf.get(id) ?? []).flatMap((key) => spent.get(scopeOfKey(key)) ?? [])
    const sumOf = (member: 'dayNanoUsd' | 'monthNanoUsd') => keys.reduce((sum, key) => sum + key[member], 0)
    return {
      spend: {
        day: toUsd(Math.max(held.get(`d ${scopeOf(id)}`) ?? 0, sumOf('dayNanoUsd'))),
        month: toUsd(Math.max(held.get(`m ${scopeOf(id)}`) ?? 0, sumOf('monthNanoUsd'))),
      },
      refused: refused.get(id) ?? { count: 0, reason: null, at: null },
    }
  }
}

/** Counts refusals of each id, with the latest reason; the newest come first. */
function latestBy(
  refusals: readonly RecentRefusal[],
  idsOf: FigureSubjects['refusedOf'],
): ReadonlyMap<string, Figures['refused']> {
  const byId = new Map<string, Figures['refused']>()
  for (const refusal of refusals)
    for (const id of idsOf(refusal)) {
      if (id === null) continue
      const { count, reason, at } = byId.get(id) ?? { count: 0, reason: refusal.reason, at: toTime(refusal.atMs) }
      byId.set(id, { count: count + 1, reason, at })
    }
  return byId
}

/** Returns the ids of keys by a member of their facts. */
export function keysBy(facts: readonly KeyFacts[], member: 'accountId' | 'teamId'): Map<string, string[]> {
  const byId = new Map<string, string[]>()
  for (const { id, [member]: owner } of facts) {
    if (owner === null) continue
    const keys = byId.get(owner) ?? []
    byId.set(owner, keys)
    keys.push(id)
  }
  return byId
}

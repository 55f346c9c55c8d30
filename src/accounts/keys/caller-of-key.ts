import { LRUCache } from 'lru-cache'
import type { KeyInUse, KeyLimits } from '../../core/ports/keys.ts'
import type { SharedLimits } from '../../core/ports/people.ts'
import { type Caller, scopeOfKey } from '../../core/request/caller.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'

/** Limits of all tags. */
type TagLimits = Readonly<Record<string, SharedLimits>>

/** Callers that are kept. */
const MOST_CALLERS = 10_000
/** Columns of a key that its caller is made of, besides the limits of tags, which are the same for all. */
const COLUMNS = ['accountId', 'tier', 'limits', 'tags', 'personLimits', 'teamId', 'teamLimits'] as const

type Row = Pick<KeyInUse, 'id' | (typeof COLUMNS)[number]>

/**
 * Creates the conversion of a stored key to the caller of its requests. It returns the same caller as long as the row stays
 * the same, so that what is computed for a caller, its caps for instance, is computed once.
 */
export function createCallerOf(): (key: KeyInUse) => Caller {
  const tagLimitsOf = rememberLast(parseTagLimits)
  const known = new LRUCache<string, { readonly row: Row; readonly caller: Caller }>(entryLimit(MOST_CALLERS))
  return (key) => {
    const tagLimits = key.tagLimits === null ? undefined : tagLimitsOf(key.tagLimits)
    const last = known.get(key.id)
    if (last !== undefined && last.caller.tagLimits === tagLimits && isSame(last.row, key)) return last.caller
    const { id, accountId, tier, limits, tags, personLimits, teamId, teamLimits } = key
    const row: Row = { id, accountId, tier, limits, tags, personLimits, teamId, teamLimits }
    const caller = toCaller(row, tagLimits)
    known.set(id, { row, caller })
    return caller
  }
}

function isSame(one: Row, other: Row): boolean {
  for (const column of COLUMNS) if (one[column] !== other[column]) return false
  return true
}

function toCaller({ id, accountId, tier, ...key }: Row, tagLimits: TagLimits | undefined): Caller {
  const caller: Caller = { kind: 'key', scope: scopeOfKey(id), keyId: id, userId: accountId, tier }
  return {
    ...caller,
    // Safe: limits and tags were checked when they were set.
    ...(key.limits !== null && { limits: JSON.parse(key.limits) as KeyLimits }),
    ...(key.teamId !== null && { teamId: key.teamId }),
    ...(key.tags !== null && { tags: JSON.parse(key.tags) as string[] }),
    ...(key.personLimits !== null && { personLimits: JSON.parse(key.personLimits) as SharedLimits }),
    ...(key.teamLimits !== null && { teamLimits: JSON.parse(key.teamLimits) as SharedLimits }),
    ...(tagLimits !== undefined && { tagLimits }),
  }
}

/** Parses lines of a tag's name, a space and its limits. */
function parseTagLimits(lines: string): TagLimits {
  const entries = lines.split('\n').map((line): [string, SharedLimits] => {
    const at = line.indexOf(' ')
    // Safe: they were checked when they were set.
    return [line.slice(0, at), JSON.parse(line.slice(at + 1)) as SharedLimits]
  })
  return Object.fromEntries(entries)
}

/** Keeps the result for the last text: the limits of tags are the same for most requests. */
function rememberLast<Result>(parse: (text: string) => Result): (text: string) => Result {
  let last: { readonly text: string; readonly result: Result } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, result: parse(text) }
    return last.result
  }
}

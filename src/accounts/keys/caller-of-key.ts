import type { KeyInUse, KeyLimits } from '../../core/ports/keys.ts'
import type { SharedLimits } from '../../core/ports/people.ts'
import type { Caller } from '../../core/request/caller.ts'

/** Returns the scope of a key's requests. */
export function scopeOfKey(id: string): string {
  return `key:${id}`
}

/** Limits of all tags. */
type TagLimits = Readonly<Record<string, SharedLimits>>

/** Creates the conversion of a stored key to the caller of its requests. */
export function createCallerOf(): (key: KeyInUse) => Caller {
  const tagLimitsOf = rememberLast(parseTagLimits)
  return ({ id, accountId, tier, ...key }) => {
    const caller: Caller = { kind: 'key', scope: scopeOfKey(id), keyId: id, userId: accountId, tier }
    return {
      ...caller,
      // Safe: limits and tags were checked when they were set.
      ...(key.limits !== null && { limits: JSON.parse(key.limits) as KeyLimits }),
      ...(key.teamId !== null && { teamId: key.teamId }),
      ...(key.tags !== null && { tags: JSON.parse(key.tags) as string[] }),
      ...(key.personLimits !== null && { personLimits: JSON.parse(key.personLimits) as SharedLimits }),
      ...(key.teamLimits !== null && { teamLimits: JSON.parse(key.teamLimits) as SharedLimits }),
      ...(key.tagLimits !== null && { tagLimits: tagLimitsOf(key.tagLimits) }),
    }
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

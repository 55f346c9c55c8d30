import { isString, type Members, utf8Of } from '../../core/json/raw-json.ts'
import type { DroppedFields } from '../../core/request/dropped-fields.ts'
import type { ModelTraits } from './model-traits.ts'

/** Context of a request's translation. */
export interface Translation {
  readonly traits: ModelTraits
  readonly droppedFields: DroppedFields
}

const HEADER_SAFE = /^\w[\w-]{0,63}$/

/** Returns the raw value of a member that is present and not null. */
export function given(members: Members, name: string): string | undefined {
  const value = members.get(name)
  return value === 'null' ? undefined : value
}

/** Returns the text of a raw JSON string; `undefined` when it is no string. */
export function textOf(raw: string | undefined): string | undefined {
  if (!isString(raw)) return undefined
  return raw.includes('\\') ? JSON.parse(utf8Of(raw)) : utf8Of(raw.slice(1, -1))
}

/**
 * Drops every given member that is not `known`, by its name under `prefix`. Names come from the client and end in a
 * header, so an unusual one is reported as `(other)`.
 */
export function dropOthers(
  members: Members,
  known: ReadonlySet<string>,
  { droppedFields, prefix }: { droppedFields: DroppedFields; prefix: string },
): void {
  for (const [name, value] of members) {
    if (known.has(name) || value === 'null') continue
    droppedFields.drop(`${prefix}${HEADER_SAFE.test(name) ? name : '(other)'}`)
  }
}

/** Prints the raw JSON object of these members, without those that have no value. */
export function printGiven(members: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return `{${entries.map(([name, value]) => `"${name}":${value}`).join(',')}}`
}

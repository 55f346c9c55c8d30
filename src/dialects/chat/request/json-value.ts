import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'

/** Returns a typed object as one whose members are all unknown. */
export function asJson(value: object): JsonObject {
  return value as JsonObject // safe: reading an absent member gives undefined, an unknown too
}

/** Returns true for a value that is absent, null, or empty. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Returns true for text that is empty or white space only. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text)
}

/** Formats a type for a message. Hazard: String() of an object calls a `toString` that the client may have sent. */
export function wordOf(type: unknown): string {
  return typeof type === 'string' ? type : `(${typeof type})`
}

/** Rules for an object's unused members. */
export interface Leftovers {
  /** Members that the translation reads, or that have no effect. */
  readonly known: ReadonlySet<string>
  /** Path of the object, without indexes: `messages.content`. */
  readonly place: string
}

/** Drops and reports every member of `object` that is not known and not empty. */
export function dropLeftovers(object: JsonObject, { known, place }: Leftovers, droppedFields: DroppedFields): void {
  for (const name in object)
    if (!known.has(name) && !isNothing(object[name])) droppedFields.drop(`${place}.${reportedName(name)}`)
}

const PLAIN_NAME = /^[\w.-]{1,64}$/

/** Returns the name under which a member is reported. Dropped names are in a header, so a name that a client made up may not be free text. */
export function reportedName(name: string): string {
  return PLAIN_NAME.test(name) ? name : '(other)'
}

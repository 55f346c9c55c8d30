import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'

/** A typed object as one whose members are read with care, whatever their names. */
export function asJson(value: object): JsonObject {
  return value as JsonObject // safe: reading a member that is not there gives undefined, an unknown too
}

/** Tells whether nothing is lost with `value`: it is absent, null, or empty. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Tells whether `text` is empty or white space only. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text)
}

/** A type as a message shows it. Hazard: String() of an object calls a `toString` that the client may have sent. */
export function wordOf(type: unknown): string {
  return typeof type === 'string' ? type : `(${typeof type})`
}

/** What to tell of an object's members that are not carried over. */
export interface Leftovers {
  /** Members that the translation reads, or that say nothing. */
  readonly known: ReadonlySet<string>
  /** Where they are, without indexes: `messages.content`. */
  readonly place: string
}

/** Drops, and tells, every member of `object` that is not known and not empty. */
export function dropLeftovers(object: JsonObject, { known, place }: Leftovers, droppedFields: DroppedFields): void {
  for (const name in object)
    if (!known.has(name) && !isNothing(object[name])) droppedFields.drop(`${place}.${toldName(name)}`)
}

const PLAIN_NAME = /^[\w.-]{1,64}$/

/** The name of a member as it is told. Dropped names stand in a header, so one that a client made up may not be free text. */
export function toldName(name: string): string {
  return PLAIN_NAME.test(name) ? name : '(other)'
}

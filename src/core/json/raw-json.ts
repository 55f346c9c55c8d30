/**
 * Raw JSON: texts are bytes read as latin1, as in `scan.ts`, and values are slices that are never parsed and
 * printed again, so that 1.0, 2^53+1, escapes and the order of keys survive.
 */
import { children, ScanError } from './scan.ts'

/** The members of a JSON object: decoded keys, raw values; of a repeated key the last, as in JSON.parse. */
export type Members = Map<string, string>

/** Thrown for what cannot be converted faithfully. */
export class NotConvertible extends Error {}

/** Puts `later` over `earlier`; null keeps the earlier value. */
export function merge(earlier: Members, later: Members): Members {
  for (const [name, value] of later) if (value !== 'null' || !earlier.has(name)) earlier.set(name, value)
  return earlier
}

/** Reads the members of the object `json`. Throws `ScanError`. */
export function membersOf(json: string): Members {
  if (!json.startsWith('{')) throw new ScanError('expected an object', 0)
  return new Map(children(json, 0).map(({ key = '', start, end }) => [key, json.slice(start, end)]))
}

/** Reads the members of an object; `undefined` for any other value. */
export function objectOf(json: string | undefined): Members | undefined {
  return json?.startsWith('{') ? membersOf(json) : undefined
}

/** Reads the raw elements of the array `json`. Throws `ScanError`. */
export function elementsOf(json: string): string[] {
  if (!json.startsWith('[')) throw new ScanError('expected an array', 0)
  return children(json, 0).map(({ start, end }) => json.slice(start, end))
}

/** Prints the object with these members as raw JSON. */
export function print(members: Members): string {
  return `{${Array.from(members, ([key, value]) => `${latin1Of(JSON.stringify(key))}:${value}`).join(',')}}`
}

/** Picks the members of these names, in the order of the names. */
export function pick(members: Members, names: readonly string[]): Members {
  const picked: Members = new Map()
  for (const name of names) {
    const value = members.get(name)
    if (value !== undefined) picked.set(name, value)
  }
  return picked
}

/** Returns a required member. Throws `NotConvertible`. */
export function need(members: Members, name: string): string {
  const value = members.get(name)
  if (value === undefined) throw new NotConvertible(`no ${name}`)
  return value
}

/** Returns the raw content of a string member. Throws `NotConvertible`. */
export function insideOf(members: Members, name: string): string {
  const text = members.get(name)
  if (!isString(text)) throw new NotConvertible(`${name} is no string`)
  return text.slice(1, -1)
}

/** Returns whether the raw value is a string. */
export function isString(json: string | undefined): json is string {
  return json?.startsWith('"') === true
}

/** Converts text to raw JSON. */
export function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Converts raw JSON to text. */
export function utf8Of(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString()
}

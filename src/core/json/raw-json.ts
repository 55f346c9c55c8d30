/**
 * Raw JSON: texts are bytes read as latin1, as `scan.ts` has them, and values are slices that are never parsed and
 * printed again, so that 1.0, 2^53+1, escapes and the order of keys survive.
 */
import { children, ScanError } from './scan.ts'

/** The members of a JSON object: decoded keys, raw values; of a repeated key the last, as JSON.parse has it. */
export type Members = Map<string, string>

/** Thrown for what cannot be converted faithfully. */
export class NotConvertible extends Error {}

/** Puts `later` over `earlier`; null leaves what is there. */
export function merge(earlier: Members, later: Members): Members {
  for (const [name, value] of later) if (value !== 'null' || !earlier.has(name)) earlier.set(name, value)
  return earlier
}

/** The members of the object that `json` is. Throws `ScanError`. */
export function membersOf(json: string): Members {
  if (!json.startsWith('{')) throw new ScanError('expected an object', 0)
  return new Map(children(json, 0).map(({ key = '', start, end }) => [key, json.slice(start, end)]))
}

/** The same, or `undefined` when it is not an object. */
export function objectOf(json: string | undefined): Members | undefined {
  return json?.startsWith('{') ? membersOf(json) : undefined
}

/** The raw elements of the array that `json` is. Throws `ScanError`. */
export function elementsOf(json: string): string[] {
  if (!json.startsWith('[')) throw new ScanError('expected an array', 0)
  return children(json, 0).map(({ start, end }) => json.slice(start, end))
}

/** The object with these members, as raw JSON. */
export function print(members: Members): string {
  return `{${Array.from(members, ([key, value]) => `${latin1Of(JSON.stringify(key))}:${value}`).join(',')}}`
}

/** The members of these names, in the order of the names. */
export function pick(members: Members, names: readonly string[]): Members {
  const picked: Members = new Map()
  for (const name of names) {
    const value = members.get(name)
    if (value !== undefined) picked.set(name, value)
  }
  return picked
}

/** A member that must be there. Throws `NotConvertible`. */
export function need(members: Members, name: string): string {
  const value = members.get(name)
  if (value === undefined) throw new NotConvertible(`no ${name}`)
  return value
}

/** The raw inside of a string member. Throws `NotConvertible`. */
export function insideOf(members: Members, name: string): string {
  const text = members.get(name)
  if (!isString(text)) throw new NotConvertible(`${name} is no string`)
  return text.slice(1, -1)
}

/** Whether the raw value is a string. */
export function isString(json: string | undefined): json is string {
  return json?.startsWith('"') === true
}

/** Text as raw JSON has it. */
export function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Raw JSON as text. */
export function utf8Of(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString()
}

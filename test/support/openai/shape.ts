import { isJsonObject } from '../json.ts'

/** Prints the shape of a JSON value: key sets in order of name and types of values, so that equal texts are equal shapes. */
export function toShape(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${[...new Set(value.map(toShape))].sort().join(' | ')}]`
  if (!isJsonObject(value)) return typeof value
  const members = Object.keys(value).sort()
  return `{ ${members.map((name) => `${name}: ${toShape(value[name])}`).join(', ')} }`
}

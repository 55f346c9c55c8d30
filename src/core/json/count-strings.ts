import { isObject } from './json-value.ts'

/** Counts the strings of a parsed value, names of members included. */
export function stringsIn(value: unknown): number {
  if (typeof value === 'string') return 1
  let count = 0
  if (Array.isArray(value)) for (const element of value) count += stringsIn(element)
  else if (isObject(value)) for (const name of Object.keys(value)) count += 1 + stringsIn(value[name])
  return count
}

/** Counts the strings of a valid JSON text, names of members included, also of those that a later member of the name hides. */
export function stringsInJson(json: string): number {
  let quotes = 0
  for (let at = json.indexOf('"'); at !== -1; at = json.indexOf('"', at + 1)) if (!isEscaped(json, at)) quotes++
  return quotes / 2
}

const BACKSLASH = 92

function isEscaped(json: string, at: number): boolean {
  let slashes = 0
  while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

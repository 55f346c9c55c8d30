import { children } from '../../core/json/scan.ts'

/** Returns true when any object of a JSON text repeats a name, at any depth. Throws `ScanError` for text that is not well-formed. */
export function hasRepeatedNames(json: string): boolean {
  const text = Buffer.from(json).toString('latin1')
  return repeatsIn(text, text.search(/\S/))
}

function repeatsIn(text: string, start: number): boolean {
  const first = text.charAt(start)
  if (first !== '{' && first !== '[') return false
  const found = children(text, start)
  const names = found.flatMap(({ key }) => (key === undefined ? [] : [key]))
  return new Set(names).size < names.length || found.some((child) => repeatsIn(text, child.start))
}

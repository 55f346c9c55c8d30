const MOST_MEMBERS = 16
const MOST_ITEMS = 16
const DEEPEST = 3
const LONGEST_TEXT = 120
/** Values in all, however they are nested. */
const MOST_VALUES = 64

/**
 * A copy of what a module noted that is small whatever it noted: long texts are cut, what is too much or too deep is left
 * out, and what is no plain data is told as its type.
 */
export function smallDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return copyObject(details, { left: MOST_VALUES }, 1)
  } catch {
    // An object may run its maker's code when it is read.
    return { unreadable: true }
  }
}

interface Budget {
  left: number
}

function copyObject(object: object, budget: Budget, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  let members = 0
  for (const name in object) {
    if (++members > MOST_MEMBERS || budget.left <= 0) break
    // The cast is safe: the name is one of the object's own or inherited.
    copy[name.slice(0, LONGEST_TEXT)] = copyValue((object as Record<string, unknown>)[name], budget, depth)
  }
  return copy
}

function copyValue(value: unknown, budget: Budget, depth: number): unknown {
  budget.left--
  switch (typeof value) {
    case 'string':
      return value.slice(0, LONGEST_TEXT)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
    case 'undefined':
      return value
    case 'bigint':
      return String(value).slice(0, LONGEST_TEXT)
    case 'object':
      if (value === null) return null
      if (depth >= DEEPEST) return Array.isArray(value) ? `[${value.length}]` : '{…}'
      if (!Array.isArray(value)) return copyObject(value, budget, depth + 1)
      return value
        .slice(0, Math.min(MOST_ITEMS, Math.max(0, budget.left)))
        .map((item) => copyValue(item, budget, depth + 1))
    default:
      return typeof value
  }
}

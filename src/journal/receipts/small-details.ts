const MOST_MEMBERS = 16
const MOST_ITEMS = 16
const DEEPEST = 3
const LONGEST_TEXT = 120
/** Total number of values, at any nesting. */
const MOST_VALUES = 64

/**
 * Copies a plugin's details into a bounded form: long texts are truncated, values beyond the bounds of count and depth are
 * left out, and values that are not plain data become the name of their type.
 */
export function smallDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return copyObject(details, { left: MOST_VALUES }, 1)
  } catch {
    // Reading an object's member may run a getter of the plugin's.
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
    // Safe: the name is an own or inherited name of the object.
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

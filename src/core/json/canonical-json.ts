/**
 * Returns the canonical JSON of a value, RFC 8785: no white space, members sorted by the UTF-16 units of their names, numbers
 * and strings as ECMAScript prints them. Members that are `undefined` are left out, as JSON.stringify does.
 * Throws `TypeError` for values without a canonical form: numbers that are not finite, lone surrogates, other types.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value)
      break
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
      return object(value as Readonly<Record<string, unknown>>) // safe: neither null nor an array
  }
  throw new TypeError(`There is no canonical JSON of ${String(value)}.`)
}

function object(members: Readonly<Record<string, unknown>>): string {
  const { sorted, labels } = orderOf(Object.keys(members))
  let text = ''
  for (let i = 0; i < sorted.length; i++) {
    const value = members[sorted[i] ?? '']
    if (value !== undefined) text += `${text === '' ? '' : ','}${labels[i]}${canonicalJson(value)}`
  }
  return `{${text}}`
}

/** The names of an object's members in its own order, sorted, and sorted as they are printed. */
interface Order {
  readonly names: readonly string[]
  readonly sorted: readonly string[]
  readonly labels: readonly string[]
}

/** Orders found before, by the number of names: objects of one kind have the same names in the same order. */
const known: Order[][] = []
const MOST_NAMES = 64
const MOST_OF_ONE_LENGTH = 8

/** Sorts in the default order of `sort`, that of UTF-16 units, as RFC 8785, section 3.2.3, requires. */
function orderOf(names: readonly string[]): Order {
  const { length } = names
  const ofLength = known[length] ?? []
  for (const order of ofLength) if (order.names.every((name, i) => name === names[i])) return order
  const sorted = names.toSorted()
  const order = { names, sorted, labels: sorted.map((name) => `${quoted(name)}:`) }
  if (length <= MOST_NAMES && ofLength.length < MOST_OF_ONE_LENGTH) known[length] = [...ofLength, order]
  return order
}

/** Characters that need no escape in JSON; no surrogates. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Prints a string. RFC 8785, section 3.2.2.2: lone surrogates are an error; JSON.stringify would escape them. */
function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('There is no canonical JSON of half a character.')
  return JSON.stringify(text)
}

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

/** Sorted as RFC 8785, section 3.2.3, requires: the default order of `sort` is that of UTF-16 units. */
function object(members: Readonly<Record<string, unknown>>): string {
  const texts: string[] = []
  for (const name of Object.keys(members).sort()) {
    const value = members[name]
    if (value !== undefined) texts.push(`${quoted(name)}:${canonicalJson(value)}`)
  }
  return `{${texts.join(',')}}`
}

/** Prints a string. RFC 8785, section 3.2.2.2: lone surrogates are an error; JSON.stringify would escape them. */
function quoted(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('There is no canonical JSON of half a character.')
  return JSON.stringify(text)
}

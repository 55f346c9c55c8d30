/** Matches candidates: paths, identifiers, numbers, addresses, error names. */
const WORD = /[\w/@$#][\w/.:@$#%&?=+~-]{0,200}[\w/]|\d/g
/** Distinguishes a candidate from plain language: a digit, an inner mark or capital, or capitals only. */
const DISTINCT = /\d|\w[/_.:@-]\w|[a-z][A-Z]|^[A-Z_]{3,}$|^\//
const LONGEST = 200

/** Returns the distinct values in a text: names and numbers that plain language does not have. */
export function distinctValues(text: string): string[] {
  return (text.match(WORD) ?? []).filter((word) => word.length <= LONGEST && DISTINCT.test(word))
}

/** What may be a path, an identifier, a number, an address, the name of an error. */
const WORD = /[\w/@$#][\w/.:@$#%&?=+~-]{0,200}[\w/]|\d/g
/** Marks by which a word is told from one of plain language: a digit, a mark inside, a capital inside, capitals only. */
const DISTINCT = /\d|\w[/_.:@-]\w|[a-z][A-Z]|^[A-Z_]{3,}$|^\//
const LONGEST = 200

/** The distinct values in a text: names and numbers that plain language does not have. */
export function distinctValues(text: string): string[] {
  return (text.match(WORD) ?? []).filter((word) => word.length <= LONGEST && DISTINCT.test(word))
}

import type { Message } from 'turnpike/plugin'

/** What may be a path, an identifier, a number, an address, the name of an error. */
const WORD = /[\w/@$#][\w/.:@$#%&?=+~-]*[\w/]|\d/g
/** Marks by which a word is told from one of plain language: a digit, a mark inside, a capital inside, capitals only. */
const DISTINCT = /\d|\w[/_.:@-]\w|[a-z][A-Z]|^[A-Z_]{3,}$|^\//
const LONGEST = 200

/** The distinct values in a text: names and numbers that plain language does not have. */
export function distinctValues(text: string): string[] {
  return (text.match(WORD) ?? []).filter((word) => word.length <= LONGEST && DISTINCT.test(word))
}

/** The distinct values that the assistant has written, in its text or to its tools. */
export function valuesUsed(messages: readonly Message[]): Set<string> {
  const used = new Set<string>()
  for (const { role, content } of messages) {
    if (role !== 'assistant') continue
    const texts = typeof content === 'string' ? [content] : content.flatMap(strings)
    for (const text of texts) for (const value of distinctValues(text)) used.add(value)
  }
  return used
}

/** All strings and numbers in a value. Thinking is left out: what comes of it is in what follows. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null || ('type' in value && value.type === 'thinking')) return []
  return Object.values(value).flatMap(strings)
}

import type { ToolName } from './namespaces.ts'

const WORD = /[\w.:/-]+/g
/** A name as code has it, with a separator or a capital inside. Plain words name a tool only where they are quoted. */
const CODE_LIKE = /[\w][_.:/-]+\w|[a-z\d][A-Z]/
const QUOTED = /[`'"](\w+)[`'"]/g
/** Longer ones are no names, and would take long to look at. */
const LONGEST_NAME = 200

/** Indexes of the tools that `text` calls by their names, with their prefix or without. */
export function mentionedIn(text: string, tools: readonly { readonly name: ToolName }[]): Set<number> {
  const words = new Set<string>()
  for (const [word] of text.matchAll(WORD)) {
    if (word.length <= LONGEST_NAME && CODE_LIKE.test(word)) words.add(word.replace(/^[.:/-]+|[.:/-]+$/g, ''))
  }
  for (const [, word = ''] of text.matchAll(QUOTED)) words.add(word)
  const found = new Set<number>()
  tools.forEach(({ name }, i) => {
    if (words.has(name.full) || words.has(name.bare)) found.add(i)
  })
  return found
}

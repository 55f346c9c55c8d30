import type { ToolName } from './namespaces.ts'

const WORD = /[\w.:/-]+/g
/** Matches code-like names, with a separator or an inner capital. Plain words name a tool only in quotes. */
const CODE_LIKE = /[\w][_.:/-]+\w|[a-z\d][A-Z]/
const QUOTED = /[`'"](\w+)[`'"]/g
/** Longest name, in characters; longer ones would take long to scan. */
const LONGEST_NAME = 200

/** Returns the indexes of the tools that `text` names, with or without their prefix. */
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

import type { ListedTool } from './tool-list.ts'

/** A name as code has it: with a separator or a capital inside. Plain words name a tool only where they are quoted. */
const IDENTIFIER = /[A-Za-z\d]+(?:(?:[_.:/-]+|(?<=[a-z\d])(?=[A-Z]))[A-Za-z\d]+)+/g
const QUOTED = /[`'"]([A-Za-z\d]+)[`'"]/g

/** Indexes of the tools that `text` calls by their names, with their prefix or without. */
export function mentionedIn(text: string, tools: readonly ListedTool[]): Set<number> {
  const words = new Set(text.match(IDENTIFIER))
  for (const [, word = ''] of text.matchAll(QUOTED)) words.add(word)
  const found = new Set<number>()
  tools.forEach(({ name }, i) => {
    if (words.has(name.full) || words.has(name.bare)) found.add(i)
  })
  return found
}

/** Compiles globs, in which `*` matches any text, to a case-insensitive test of a whole text. */
export function compileGlobs(globs: readonly string[]): (text: string) => boolean {
  const parts = globs.map((glob) => glob.toLowerCase().split('*'))
  return (text) => parts.some((pieces) => fits(text.toLowerCase(), pieces))
}

/**
 * Matches without a regular expression: the leftmost place of each piece is as good as any, so there is no
 * backtracking.
 */
function fits(text: string, pieces: readonly string[]): boolean {
  const [head = '', ...rest] = pieces
  const tail = rest.pop()
  if (tail === undefined) return text === head
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false
  let at = head.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= text.length - tail.length
}

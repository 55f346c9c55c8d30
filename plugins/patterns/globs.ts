/** Says whether a text as a whole fits one of the globs, in which `*` stands for anything. Cases are not told apart. */
export function compileGlobs(globs: readonly string[]): (text: string) => boolean {
  const parts = globs.map((glob) => glob.toLowerCase().split('*'))
  return (text) => parts.some((pieces) => fits(text.toLowerCase(), pieces))
}

/** By hand and not as a regular expression: the leftmost place of each piece is as good as any, so nothing is tried twice. */
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

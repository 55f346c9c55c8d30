const LEAST_RUN = 3
const LEAST_CHARACTERS = 4

/** Folds three or more equal lines in a row into `line [×N]`. */
export function foldRepeats(text: string): string {
  if (!text.includes('\n')) return text
  const lines = text.split('\n')
  const folded: string[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    let end = at + 1
    while (end < lines.length && lines[end] === line) end++
    const isFolded = end - at >= LEAST_RUN && line.length >= LEAST_CHARACTERS
    if (isFolded) folded.push(`${line} [×${end - at}]`)
    else for (let copy = at; copy < end; copy++) folded.push(line)
    at = end
  }
  return folded.join('\n')
}

/**
 * Matches a line of `ls -l` up to the name: mode, links, owner, group, size, month, day, time or year. Other dates have
 * fewer columns.
 */
const ENTRY =
  /^[bcdlps-](?:[r-][w-][xsS-]){2}[r-][w-][xtT-][.+@]?(?: +\S+){4} +[A-Z][a-z]{2} +\d{1,2} +(?:\d{4}|\d{1,2}:\d{2}) /
const DITTO = '〃'
/** Legend, once per text, behind the first entry with a ditto mark. */
const LEGEND = ` [${DITTO}: the columns from there to the name are those of the line above]`
/** Fewest columns for which a mark is worthwhile. */
const LEAST_COLUMNS = 2

/**
 * Narrows a directory listing: columns lose their padding, and trailing columns equal to those of the entry above are
 * replaced by a ditto mark. Names keep their spaces.
 */
export function stripListing(text: string): string {
  if (!text.includes('rw')) return text
  let above: readonly string[] = []
  let hasLegend = false
  const lines = text.split('\n').map((line) => {
    const entry = ENTRY.exec(line)?.[0]
    const columns = entry?.trim().split(/ +/) ?? []
    const own = ownColumns(columns, above)
    above = columns
    if (entry === undefined) return line
    const name = line.slice(entry.length)
    if (columns.length - own < LEAST_COLUMNS) return [...columns, name].join(' ')
    const legend = hasLegend ? '' : LEGEND
    hasLegend = true
    return [...columns.slice(0, own), DITTO, name].join(' ') + legend
  })
  return lines.join('\n')
}

/** Returns the number of leading columns that differ from the line above. */
function ownColumns(columns: readonly string[], above: readonly string[]): number {
  return columns.findLastIndex((column, index) => column !== above[index]) + 1
}

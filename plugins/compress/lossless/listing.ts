/** A line of `ls -l` up to the name: mode, links, owner, group, size, date. */
const ENTRY = /^[bcdlps-](?:[r-][w-][xsS-]){2}[r-][w-][xtT-][.+@]?(?: +\S+){6} +\S+ /
const PADDING = / {2,}/g
const DITTO = '〃'
/** Stands once in a text, behind the first ditto mark. */
const LEGEND = ` [${DITTO}: all but the name as in the line above]`

/**
 * Makes a directory listing narrow: columns lose their padding, and those that an entry has in common with the one above
 * give way to a ditto mark. Names keep their spaces.
 */
export function stripListing(text: string): string {
  if (!text.includes('rw')) return text
  let above: string | undefined
  let hasLegend = false
  const lines = text.split('\n').map((line) => {
    const match = ENTRY.exec(line)
    if (match === null) {
      above = undefined
      return line
    }
    const columns = match[0].replace(PADDING, ' ')
    const name = line.slice(match[0].length)
    const isSame = columns === above
    above = columns
    if (!isSame) return columns + name
    const legend = hasLegend ? '' : LEGEND
    hasLegend = true
    return `${DITTO} ${name}${legend}`
  })
  return lines.join('\n')
}

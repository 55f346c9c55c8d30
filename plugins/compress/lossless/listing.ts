/** A line of `ls -l` up to the name: mode, links, owner, group, size, date. */
const ENTRY = /^[bcdlps-](?:[r-][w-][xsS-]){2}[r-][w-][xtT-][.+@]?(?: +\S+){6} /gm
const PADDING = / {2,}/g

/** Takes the padding away that puts the columns of a directory listing under each other. Names keep their spaces. */
export function stripListing(text: string): string {
  return text.includes('rw') ? text.replace(ENTRY, (columns) => columns.replace(PADDING, ' ')) : text
}

/**
 * Returns the items of a split; all of them without one. Throws an `Error` that names the available splits: the
 * held-out part is not in every copy of the data.
 */
export function ofSplit<Item extends { readonly split: string }>(
  items: readonly Item[],
  split: string | undefined,
  folder: string,
): Item[] {
  const wanted = items.filter((item) => split === undefined || item.split === split)
  if (wanted.length > 0) return wanted
  const there = [...new Set(items.map((item) => item.split))].map((name) => `\`${name}\``).join(' and ')
  throw new Error(
    `The data in ${folder} has no split \`${split}\`, only ${there}: held-out data is not part of it. Omit \`--split\`, or name an available one.`,
  )
}

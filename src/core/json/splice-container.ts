import type { Child } from './scan.ts'
import { type Range, skipSpace } from './scan-value.ts'

/** Changes of the members or elements of one object or array by a batch of edits, by their index in the original. */
export interface ContainerChanges {
  /** Byte offset of the opening brace or bracket. */
  readonly start: number
  readonly children: readonly Child[]
  readonly replaced: Map<number, Buffer>
  readonly removed: Set<number>
  /** Raw elements or members (key included), by the index of the child that they come before; the last index appends. */
  readonly inserted: Map<number, Buffer[]>
  /** Indexes of members by name, built at the first search. */
  indexes?: ReadonlyMap<string, number>
}

/** Bytes of the document that are replaced by `parts`; `start` equals `end` for an insertion. */
export interface Patch extends Range {
  readonly parts: readonly Buffer[]
}

const COMMA = Buffer.from(',')

/**
 * Returns the patches for `changes` in the document `text` (a latin1 reading). They touch the edited parts, and one comma
 * with the white space around it for each child that is removed; all other white space stays where it is.
 */
export function patchesOf(text: string, changes: ContainerChanges): Patch[] {
  const { children, replaced, removed, inserted } = changes
  const patches: Patch[] = []
  for (const [index, value] of replaced) {
    const child = children[index]
    if (child !== undefined) patches.push({ start: child.start, end: child.end, parts: [value] })
  }
  if (removed.size + inserted.size === 0) return patches
  for (let index = 0; index <= children.length; index++) {
    if (!removed.has(index) && !inserted.has(index)) continue
    const first = index
    const values = [...(inserted.get(index) ?? [])]
    while (removed.has(index)) values.push(...(inserted.get(++index) ?? []))
    patches.push(patchBetween({ text, changes, first, last: index, values }))
  }
  return patches
}

/** A run of removed children, from `first` up to but not including `last`, and the values inserted in its place. */
interface Region {
  readonly text: string
  readonly changes: ContainerChanges
  readonly first: number
  readonly last: number
  readonly values: readonly Buffer[]
}

function patchBetween(region: Region): Patch {
  if (region.first === region.last) return insertion(region)
  if (region.values.length === 0) return removal(region)
  const { start } = childAt(region, region.first)
  return { start, end: childAt(region, region.last - 1).end, parts: separated(region.values) }
}

function insertion(region: Region): Patch {
  const { changes, first, values } = region
  const { start, children } = changes
  if (first < children.length) {
    const at = childAt(region, first).start
    return { start: at, end: at, parts: [...separated(values), COMMA] }
  }
  if (children.length === 0) return { start: start + 1, end: start + 1, parts: separated(values) }
  const { end } = childAt(region, first - 1)
  return { start: end, end, parts: [COMMA, ...separated(values)] }
}

/** Removes a run: with the comma before it; the first run with the comma after it; the only run with none. */
function removal(region: Region): Patch {
  const { changes, first, last } = region
  const { end } = childAt(region, last - 1)
  if (first > 0) return { start: childAt(region, first - 1).end, end, parts: [] }
  const { start } = childAt(region, first)
  return { start, end: last < changes.children.length ? childAt(region, last).start : end, parts: [] }
}

/** Returns the range of a child, its key included. */
function childAt({ text, changes }: Region, index: number): Range {
  const child = changes.children[index]
  if (child === undefined) throw new RangeError(`child ${index} of ${changes.children.length}`)
  if (child.key === undefined) return child
  const before = changes.children[index - 1]
  const separator = before === undefined ? changes.start : skipSpace(text, before.end)
  return { start: skipSpace(text, separator + 1), end: child.end }
}

function separated(values: readonly Buffer[]): Buffer[] {
  return values.flatMap((value, i) => (i === 0 ? [value] : [COMMA, value]))
}

const LONGEST_ANCHOR = 28

/** What a pointer says of the text that it stands for. */
export interface Shown {
  /** `lines 31–80`, `12 lines`, `1240 characters`. */
  readonly extent: string
  /** The place, in words: `above`, `in the earlier Read a.ts`. */
  readonly where: string
  /** Words by which the text is found, as anchors. */
  readonly first: string
  readonly last: string
  /** Whether it is the same to the character: else times differ. */
  readonly isExact: boolean
}

/** A text that stands for one that was shown before, with its first and last words to find it by. */
export function pointerTo({ extent, where, first, last, isExact }: Shown): string {
  const anchors = first === last ? `“${first}”` : `“${first}” … “${last}”`
  return `[${extent} as ${where}${isExact ? '' : ', but for times'}: ${anchors}]`
}

/** The beginning of a line, by which it is found; with an ellipsis where the line goes on. */
export function anchorOf(line: string): string {
  const text = line.trim()
  return text.length <= LONGEST_ANCHOR ? text : `${text.slice(0, LONGEST_ANCHOR - 1)}…`
}

/** Checks whether a line would be found by an anchor. */
export function isAnchoredBy(line: string, anchor: string): boolean {
  const text = line.trim()
  return text === anchor || (anchor.endsWith('…') && text.startsWith(anchor.slice(0, -1)))
}

/** The beginning and the end of a part of a line, by which it is found. */
export function anchorsOfPart(text: string): { head: string; tail: string } {
  return { head: text.slice(0, LONGEST_ANCHOR - 1), tail: text.slice(1 - LONGEST_ANCHOR) }
}

/** Checks whether the anchors can be told from the pointer's own marks. */
export function isPlain(anchor: string): boolean {
  return anchor !== '' && !/[“”\n]/.test(anchor)
}

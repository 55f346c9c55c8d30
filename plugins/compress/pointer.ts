const LONGEST_ANCHOR = 28

/** Content of a pointer. */
export interface PointerParts {
  /** `lines 31–80`, `12 lines`, `1240 characters`. */
  readonly extent: string
  /** Words for the source: `above`, `in the earlier Read a.ts`. */
  readonly where: string
  /** First and last words of the text, as anchors. */
  readonly first: string
  readonly last: string
  /** True when the text equals its source to the character; false when durations differ. */
  readonly isExact: boolean
}

/** Returns the pointer that replaces a text shown before, with its first and last words as anchors. */
export function pointerTo({ extent, where, first, last, isExact }: PointerParts): string {
  const anchors = first === last ? `“${first}”` : `“${first}” … “${last}”`
  return `[${extent} as ${where}${isExact ? '' : ', but for times'}: ${anchors}]`
}

/** Returns the beginning of a line as an anchor; with an ellipsis where the line continues. */
export function anchorOf(line: string): string {
  const text = line.trim()
  return text.length <= LONGEST_ANCHOR ? text : `${text.slice(0, LONGEST_ANCHOR - 1)}…`
}

/** Tests a line against an anchor. */
export function isAnchoredBy(line: string, anchor: string): boolean {
  const text = line.trim()
  return text === anchor || (anchor.endsWith('…') && text.startsWith(anchor.slice(0, -1)))
}

/** Returns the beginning and the end of a part of a line, as anchors. */
export function anchorsOfPart(text: string): { head: string; tail: string } {
  return { head: text.slice(0, LONGEST_ANCHOR - 1), tail: text.slice(1 - LONGEST_ANCHOR) }
}

/** Tests that an anchor cannot be confused with the pointer's own marks. */
export function isPlain(anchor: string): boolean {
  return anchor !== '' && !/[“”\n]/.test(anchor)
}

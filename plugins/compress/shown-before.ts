import type { Earlier, Run, Source } from './earlier.ts'
import { estimateTokens } from './estimate.ts'
import { elementBoundaries, isJsonLike, wholeElements } from './json-elements.ts'
import { pointerToLines, pointerToPart } from './pointer-to-run.ts'
import { closesLine, opensLine, type Segment } from './segments.ts'

/** Fewest tokens that a pointer must save, about 100 of Claude's: the model has to look up its target. */
const LEAST_SAVED_TOKENS = 80
/** Fewest characters of a run that can save that much. */
const LEAST_CHARACTERS = 300

/** Text in which pointers replace what was shown before. */
export interface Deduplicated {
  readonly text: string
  readonly pointers: number
  readonly savedTokens: number
}

/** Earlier content that a text is compared with. */
export interface Shown<Origin> {
  readonly earlier: Earlier<Origin>
  /** Source of the text itself. */
  readonly own: Source<Origin>
  /** Returns the label of a source; `undefined` when it is ambiguous. */
  readonly labelOf: (origin: Origin) => string | undefined
}

/** Run of segments, the end excluded, and its replacement. */
interface Replacement {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly savedTokens: number
}

/** Replaces text that can be read earlier by pointers, and adds the segments that remain. */
export function pointToEarlier<Origin>(segments: readonly Segment[], shown: Shown<Origin>): Deduplicated {
  const { earlier } = shown
  let boundaries: number[] | undefined
  const place: Omit<Place<Origin>, 'offset'> = {
    ...shown,
    segments,
    // Lazy: most texts have no target.
    boundaries: () => (boundaries ??= jsonBoundaries(segments)),
  }
  const hasNumbers = segments.some(({ number }) => number > 0)
  const parts: string[] = []
  let pointers = 0
  let savedTokens = 0
  // Segments before this one are written.
  let written = 0
  // Runs that begin before this one are done.
  let next = 0
  for (let at = 0; at < segments.length; at++) {
    const found = at < next ? undefined : earlier.find(segments, { from: at, least: written, hasNumbers })
    const replacement = found && replacementFor(found, { ...place, offset: earlier.length - at })
    if (found !== undefined && replacement === undefined) next = found.from + found.length
    if (replacement === undefined) {
      // Safe: `at` is less than the number of segments.
      earlier.add(segments[at]!)
      continue
    }
    const { from, to, text } = replacement
    parts.push(textOf(segments, written, from), text)
    pointers++
    savedTokens += replacement.savedTokens
    const behind = at - from
    if (behind >= 0) earlier.cutBack(earlier.length - behind)
    else for (const segment of segments.slice(at, from)) earlier.add(segment)
    earlier.gap()
    written = to
    at = to - 1
  }
  parts.push(textOf(segments, written, segments.length))
  return { text: parts.join(''), pointers, savedTokens }
}

/** Returns the element boundaries of a text that has JSON in it and no line numbers. */
function jsonBoundaries(segments: readonly Segment[]): number[] {
  if (segments.some(({ number }) => number > 0)) return []
  return segments.some(({ text }, index) => (index === 0 || text.length > 100) && isJsonLike(text))
    ? elementBoundaries(segments)
    : []
}

interface Place<Origin> extends Shown<Origin> {
  readonly segments: readonly Segment[]
  /** Returns the element boundaries of JSON; empty for other texts. */
  readonly boundaries: () => readonly number[]
  /** Offset from a segment to its position in the row. */
  readonly offset: number
}

/** Returns the replacement of a run, or of a part of it, when it is worthwhile and unambiguous. */
function replacementFor<Origin>(found: Run, place: Place<Origin>): Replacement | undefined {
  const { segments, earlier, own } = place
  if (lengthOf(segments, found) < LEAST_CHARACTERS) return undefined
  const run = worthyPart(found, place)
  const { from, length } = run
  const to = from + length
  const covered = textOf(segments, from, to)
  if (covered.length < LEAST_CHARACTERS) return undefined
  const isExact = earlier.isExact(segments, run)
  const isAbove = run.at >= own.start
  // The first occurrence within the text itself is not replaced by a merely similar one.
  if (!isExact && isAbove) return undefined
  const pointer = pointerFor(run, { covered, isAbove, isExact }, place)
  if (pointer === undefined) return undefined
  const savedTokens = estimateTokens(covered) - estimateTokens(pointer)
  if (savedTokens < LEAST_SAVED_TOKENS) return undefined
  return { from, to, text: covered.endsWith('\n') ? `${pointer}\n` : pointer, savedTokens }
}

/**
 * Returns the part of a run that a pointer may replace: whole lines, or a part of one line; in JSON whole elements of a
 * list; without blank lines at its ends, which cannot be anchors; and without overlap with its own place.
 */
function worthyPart<Origin>({ from, length, at }: Run, { segments, boundaries, offset }: Place<Origin>): Run {
  let first = from
  let end = from + Math.min(length, from + offset - at)
  const ends = boundaries()
  if (ends.length > 0) ({ from: first, to: end } = wholeElements(ends, first, end))
  const opens = segments.findIndex((segment, index) => index >= first && index < end && opensLine(segment))
  const closes = segments.findLastIndex((segment, index) => index >= first && index < end && closesLine(segment))
  if (opens !== -1 && closes >= opens) {
    first = opens
    end = closes + 1
    while (first < end && isBlank(segments[first])) first++
    while (end > first && isBlank(segments[end - 1])) end--
  }
  return { from: first, length: end - first, at: at + first - from }
}

function lengthOf(segments: readonly Segment[], { from, length }: Run): number {
  let characters = 0
  for (let at = from; at < from + length; at++) characters += segments[at]?.text.length ?? 0
  return characters
}

function isBlank(segment: Segment | undefined): boolean {
  return segment?.content.trim() === ''
}

interface Covered {
  readonly covered: string
  readonly isAbove: boolean
  readonly isExact: boolean
}

/** Returns the pointer to a run; `undefined` when it would be ambiguous. */
function pointerFor<Origin>(
  { from, length, at }: Run,
  { covered, isAbove, isExact }: Covered,
  { segments, earlier, own, labelOf }: Place<Origin>,
): string | undefined {
  const source = isAbove ? own : earlier.sourceAt(at)
  const label = source && (isAbove ? 'above' : labelOf(source.origin))
  const readable = earlier.sourceAround(at)
  if (label === undefined || readable === undefined) return undefined
  const where = isAbove ? label : `in the earlier ${label}`
  const run = segments.slice(from, from + length)
  const [head, tail] = [run[0], run.at(-1)]
  if (head === undefined || tail === undefined) return undefined
  const isWhole = opensLine(head) && closesLine(tail)
  if (!isWhole) return pointerToPart(covered, { readable, where, isExact })
  return pointerToLines(run, { place: earlier.slice(at, length), readable, where, isExact })
}

function textOf(segments: readonly Segment[], from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += segments[at]?.text ?? ''
  return text
}

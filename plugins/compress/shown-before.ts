import type { Earlier, Run, Source } from './earlier.ts'
import { estimateTokens } from './estimate.ts'
import { pointerTo } from './pointer.ts'
import type { Segment } from './segments.ts'

/** Fewest characters of a run that a pointer may stand for. */
const LEAST_CHARACTERS = 100
/** Fewest tokens that a pointer must save. */
const LEAST_SAVED_TOKENS = 8

/** A text in which pointers stand for what was shown before. */
export interface Deduplicated {
  readonly text: string
  readonly pointers: number
}

/** Puts pointers in the place of what `earlier` has, and adds the segments to it as a part of `source`. */
export function pointToEarlier(segments: readonly Segment[], earlier: Earlier, { start }: Source): Deduplicated {
  const parts: string[] = []
  let pointers = 0
  // Segments before this one are written.
  let written = 0
  for (let at = 0; at < segments.length; at++) {
    const found = earlier.find(segments, at, written)
    const run = found && trimmed(found, segments, earlier.length - at)
    const pointer = run && pointerFor(run, { segments, earlier, start })
    if (run !== undefined && pointer !== undefined) {
      parts.push(textOf(segments, written, run.from), pointer)
      pointers++
      written = run.from + run.length
      // Safe, as below: `written` is at most the number of segments.
      while (at < written - 1) earlier.add(segments[at++]!)
    }
    earlier.add(segments[at]!)
  }
  parts.push(textOf(segments, written, segments.length))
  return { text: parts.join(''), pointers }
}

/**
 * A run without blank lines at its ends, where they would tell a reader nothing, and without what it would have in common
 * with its own source. `offset` leads from a segment to its place in the row.
 */
function trimmed({ from, length, at }: Run, segments: readonly Segment[], offset: number): Run {
  const end = from + Math.min(length, from + offset - at)
  let first = from
  let last = end
  while (first < end && isBlank(segments[first])) first++
  while (last > first && isBlank(segments[last - 1])) last--
  return { from: first, length: last - first, at: at + first - from }
}

function isBlank(segment: Segment | undefined): boolean {
  return segment?.content.trim() === ''
}

interface Place {
  readonly segments: readonly Segment[]
  readonly earlier: Earlier
  /** Where this text's own segments begin. */
  readonly start: number
}

/** The pointer that stands for a run, when it is worth it. */
function pointerFor(run: Run, { segments, earlier, start }: Place): string | undefined {
  const covered = textOf(segments, run.from, run.from + run.length)
  if (covered.length < LEAST_CHARACTERS) return undefined
  const source = earlier.sourceAt(run.at)
  const where = run.at >= start ? 'above' : `in the earlier ${source?.label ?? 'result'}`
  const first = segments[run.from]
  const last = segments[run.from + run.length - 1]
  if (first === undefined || last === undefined) return undefined
  const shown = { extent: extentOf(covered, { first, last }), where: numbersOf(run, { first, where, earlier }) }
  const isExact = earlier.isExact(segments, run)
  // What a text itself shows for the first time is not left out for being much alike.
  if (!isExact && run.at >= start) return undefined
  const pointer = pointerTo({ ...shown, first: first.content, last: last.content, isExact })
  const saved = estimateTokens(covered) - estimateTokens(pointer)
  if (saved < LEAST_SAVED_TOKENS) return undefined
  return covered.endsWith('\n') ? `${pointer}\n` : pointer
}

function extentOf(covered: string, { first, last }: { first: Segment; last: Segment }): string {
  if (first.number > 0) return `lines ${first.number}–${last.number}`
  const lines = covered.trimEnd().split('\n').length
  return lines > 1 ? `${lines} lines` : `${covered.length} characters`
}

/** Says which lines they were where they stood, when their numbers have changed. */
function numbersOf(
  { at, length }: Run,
  { first, where, earlier }: { first: Segment; where: string; earlier: Earlier },
) {
  const number = earlier.numberAt(at)
  if (first.number === 0 || number === 0 || number === first.number) return where
  return `lines ${number}–${number + length - 1} ${where}`
}

function textOf(segments: readonly Segment[], from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += segments[at]?.text ?? ''
  return text
}

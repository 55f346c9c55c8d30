import type { Earlier, Run, Source } from './earlier.ts'
import { estimateTokens } from './estimate.ts'
import { pointerTo } from './pointer.ts'
import { type Segment, segmentsOf } from './segments.ts'

/** Fewest characters of a run that a pointer may stand for. */
const LEAST_CHARACTERS = 100
/** Fewest tokens that a pointer must save. */
const LEAST_SAVED_TOKENS = 8

/** A text in which pointers stand for what was shown before. */
export interface Deduplicated {
  readonly text: string
  readonly pointers: number
}

/** Puts pointers in the place of what `earlier` has, and adds the text to it as a part of `source`. */
export function pointToEarlier(text: string, earlier: Earlier, { start }: Source): Deduplicated {
  const segments = segmentsOf(text)
  const parts: string[] = []
  let pointers = 0
  // Segments before this one are written.
  let written = 0
  for (let at = 0; at < segments.length; at++) {
    const run = earlier.find(segments, at, written)
    const pointer = run && pointerFor(run, { segments, earlier, start })
    if (run !== undefined && pointer !== undefined) {
      parts.push(textOf(segments, written, run.from), pointer)
      pointers++
      written = run.from + run.length
      while (at < written - 1) earlier.add(segments[at++]!)
    }
    earlier.add(segments[at]!)
  }
  if (pointers === 0) return { text, pointers }
  parts.push(textOf(segments, written, segments.length))
  return { text: parts.join(''), pointers }
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
  const pointer = pointerTo({ ...shown, first: first.key, last: last.key })
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

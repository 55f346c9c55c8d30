import type { Range } from '../json/scan.ts'
import type { ReplyPart } from '../reply/reply-parts.ts'
import { printRawEvent, scanEvents } from '../reply/sse.ts'

/** One event of a portion, with all its bytes, including comments before it and its blank line. */
export interface RawEvent {
  readonly bytes: Buffer
  readonly name: string
  /** Data read as latin1; `undefined` for bytes without an event. */
  readonly data: string | undefined
  /** Offset of the data in `bytes`; -1 where it is spread over several lines. */
  readonly dataStart: number
}

/** Cuts a portion into its events; their bytes together are the portion. */
export function eventsOf(portion: Buffer): RawEvent[] {
  const events: RawEvent[] = []
  let from = 0
  scanEvents(portion, (name, source, dataStart, dataEnd, eventEnd) => {
    const data = source.toString('latin1', dataStart, dataEnd)
    const isInPlace = source === portion
    events.push({
      bytes: portion.subarray(from, eventEnd),
      name,
      data,
      dataStart: isInPlace ? dataStart - from : -1,
    })
    from = eventEnd
  })
  if (from < portion.length) events.push({ bytes: portion.subarray(from), name: '', data: undefined, dataStart: -1 })
  return events
}

/** A text in an event: its decided length, and its new text. */
export interface Slot {
  readonly part: ReplyPart
  readonly text: string
  /** Characters of `text` that are decided. */
  decided: number
  /** The new text of the decided characters, once any differs. */
  rewritten: string | undefined
}

/** An event that waits until all its texts are decided. */
export interface HeldEvent {
  readonly event: RawEvent
  readonly slots: readonly Slot[]
}

/** Returns the text of a part. */
export function textOf(json: string, { start, end }: Range): string {
  const value = Buffer.from(json.slice(start, end), 'latin1').toString()
  return json[start] === '"' ? String(JSON.parse(value)) : value
}

/** Returns the raw value, as latin1, that gives a part this text: a string, or the JSON itself where the part is no string. */
function jsonOf(json: string, { start }: Range, text: string): string {
  return Buffer.from(json[start] === '"' ? JSON.stringify(text) : text).toString('latin1')
}

/** A part of a JSON text, and its new text. */
export interface Replacement {
  readonly part: Range
  readonly text: string
}

/** Replaces some parts of the JSON, in order, by other texts; the rest is unchanged. */
export function spliced(json: string, replacements: readonly Replacement[]): string {
  const pieces: string[] = []
  let from = 0
  for (const { part, text } of replacements) {
    pieces.push(json.slice(from, part.start), jsonOf(json, part, text))
    from = part.end
  }
  pieces.push(json.slice(from))
  return pieces.join('')
}

/** Returns the bytes of an event with its rewritten texts; its own where there are none. */
export function bytesOf({ event, slots }: HeldEvent): Buffer {
  const { bytes, data, dataStart, name } = event
  const changed = slots.flatMap(({ part, rewritten }) => (rewritten === undefined ? [] : [{ part, text: rewritten }]))
  if (changed.length === 0 || data === undefined) return bytes
  const json = Buffer.from(spliced(data, changed), 'latin1')
  if (dataStart === -1) return Buffer.from(printRawEvent({ name, data: json.toString() }))
  return Buffer.concat([bytes.subarray(0, dataStart), json, bytes.subarray(dataStart + data.length)])
}

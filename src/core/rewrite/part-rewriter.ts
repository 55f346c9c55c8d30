/**
 * DESIGN — rewrites the texts of a stream in place
 *
 *   event ──► queue [ event │ event │ … ] ──► passed on in order, each once all its texts are decided
 *               │                    ▲
 *               └─ chunks ─► map ────┘ the decision: unchanged, or another text
 *
 * Events are held, not texts: so the rest of a text at its end always has an event to carry it, none has to be made up,
 * and an event without a rewritten text passes byte for byte.
 *
 * Guarantees: the order of events stays. Bytes outside of a rewritten string are the provider's. The new text for several
 * events goes into the first of them; the others stay, with their other members and an empty text.
 * Limits: a text holds at most `mostHeld` characters, all together hold `MOST_HELD_BYTES`; beyond, `take` throws. An event
 * whose data is no JSON has no texts. Work is linear in the bytes, and in what `map` does with the characters that it keeps.
 */
import { ScanError } from '../json/scan.ts'
import type { EventParts, PartReader } from '../reply/reply-parts.ts'
import { bytesOf, eventsOf, type HeldEvent, type RawEvent, type Slot, textOf } from './held-event.ts'
import type { Rewriter } from './rewriter.ts'
import type { PartMap } from './text-map.ts'

const MOST_HELD_BYTES = 32 * 1024 * 1024
/** Memory of a held event besides its bytes, about. */
const BYTES_PER_EVENT = 200
const BEFORE_CHARACTERS = 64
const NOTHING = Buffer.alloc(0)
const NO_SLOTS = { slots: [], ended: [] }

/** A text that has not ended. */
interface OpenText {
  readonly tool: string
  /** The characters after the decided ones. */
  undecided: string
  before: string
  /** Slots that are not decided to their end, in order. */
  readonly slots: Slot[]
}

/** Creates a rewriter that applies `map` to the parts that `reader` finds. */
export function createPartRewriter(reader: PartReader, map: PartMap): Rewriter {
  return new PartRewriter(reader, map)
}

class PartRewriter implements Rewriter {
  readonly #reader: PartReader
  readonly #map: PartMap
  readonly #texts = new Map<string, OpenText>()
  #queue: HeldEvent[] = []
  #heldBytes = 0
  #hasChanged = false
  #hasGivenUp = false

  constructor(reader: PartReader, map: PartMap) {
    this.#reader = reader
    this.#map = map
  }

  get hasChanged(): boolean {
    return this.#hasChanged
  }

  take(portion: Buffer): Buffer {
    if (this.#hasGivenUp) return portion
    // All are in the queue before any is decided: an error then loses nothing.
    const isFull = this.#heldBytes > MOST_HELD_BYTES
    const added = eventsOf(portion).map((event) => this.#hold(event))
    if (isFull) throw new RangeError(`more than ${MOST_HELD_BYTES} bytes wait for a decision`)
    for (const { held, ended } of added) this.#decide(held, ended)
    return this.#pass()
  }

  finish(): Buffer {
    this.#end(this.#texts.keys())
    return this.#pass()
  }

  giveUp(): Buffer {
    this.#hasGivenUp = true
    const held = Buffer.concat(this.#queue.map(({ event }) => event.bytes))
    this.#queue = []
    this.#texts.clear()
    return held
  }

  #hold(event: RawEvent): { held: HeldEvent; ended: EventParts['ended'] } {
    const { slots, ended } = this.#read(event)
    const held = { event, slots }
    this.#queue.push(held)
    this.#heldBytes += event.bytes.length + BYTES_PER_EVENT
    return { held, ended }
  }

  #read({ name, data }: RawEvent): { slots: readonly Slot[]; ended: EventParts['ended'] } {
    if (data === undefined) return NO_SLOTS
    try {
      const { parts, ended } = this.#reader.read(name, data)
      const mine = parts.filter(({ kind }) => this.#map.kinds.has(kind))
      return {
        slots: mine.map((part) => ({ part, text: textOf(data, part), decided: 0, rewritten: undefined })),
        ended,
      }
    } catch (error) {
      if (error instanceof ScanError || error instanceof SyntaxError) return NO_SLOTS
      throw error
    }
  }

  #decide({ slots }: HeldEvent, ended: EventParts['ended']): void {
    for (const slot of slots) {
      const { key, tool } = slot.part
      const open = this.#texts.get(key) ?? { tool, undecided: '', before: '', slots: [] }
      this.#texts.set(key, open)
      open.undecided += slot.text
      open.slots.push(slot)
    }
    this.#end(ended === 'all' ? this.#texts.keys() : ended)
    for (const key of new Set(slots.map(({ part }) => part.key))) {
      const open = this.#texts.get(key)
      if (open !== undefined) this.#apply(open, false)
    }
  }

  #end(keys: Iterable<string>): void {
    for (const key of keys) {
      const open = this.#texts.get(key)
      if (open !== undefined && open.undecided !== '') this.#apply(open, true)
      this.#texts.delete(key)
    }
  }

  #apply(open: OpenText, isLast: boolean): void {
    const { undecided, before, tool } = open
    const { text, keep } = this.#map.map(undecided, { before, isLast, tool })
    if (keep > this.#map.mostHeld)
      throw new RangeError(`more than ${this.#map.mostHeld} characters wait for a decision`)
    const decided = undecided.slice(0, undecided.length - keep)
    const { start, end } = differenceOf(decided, text)
    decide(open.slots, start)
    if (text !== decided) decide(open.slots, decided.length - start - end, text.slice(start, text.length - end))
    decide(open.slots, end)
    if (decided === '') return
    open.undecided = undecided.slice(decided.length)
    open.before = (before + decided).slice(-BEFORE_CHARACTERS)
  }

  /** Passes the events at the front of the queue that are wholly decided. */
  #pass(): Buffer {
    const waiting = this.#queue.findIndex(({ slots }) => slots.some(({ text, decided }) => decided < text.length))
    const passing = this.#queue.splice(0, waiting === -1 ? this.#queue.length : waiting)
    if (passing.length === 0) return NOTHING
    for (const { event, slots } of passing) {
      this.#heldBytes -= event.bytes.length + BYTES_PER_EVENT
      if (slots.some(({ rewritten }) => rewritten !== undefined)) this.#hasChanged = true
    }
    return passing.length === 1 ? bytesOf(passing[0] as HeldEvent) : Buffer.concat(passing.map(bytesOf)) // safe: not empty
  }
}

/** Counts the equal characters at the start and at the end of two texts; one of the first text is left at least. */
function differenceOf(before: string, after: string): { start: number; end: number } {
  if (before === after) return { start: before.length, end: 0 }
  const most = Math.min(before.length - 1, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let end = 0
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  return { start, end }
}

/** Decides on the next characters of a text, which may be in several events: they stay, or `text` replaces them. */
function decide(slots: Slot[], characters: number, text?: string): void {
  let left = characters
  let replacement = text
  let whole = 0
  for (const slot of slots) {
    if (left === 0 && !replacement) break
    const taken = Math.min(left, slot.text.length - slot.decided)
    const own = slot.text.slice(slot.decided, slot.decided + taken)
    if (text !== undefined) slot.rewritten = (slot.rewritten ?? slot.text.slice(0, slot.decided)) + (replacement ?? '')
    else if (slot.rewritten !== undefined) slot.rewritten += own
    replacement = ''
    slot.decided += taken
    left -= taken
    if (slot.decided === slot.text.length) whole++
  }
  slots.splice(0, whole)
}

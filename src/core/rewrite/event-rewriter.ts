import type { EventTranslator } from '../reply/event-translator.ts'
import { printRawEvent, scanEvents } from '../reply/sse.ts'
import { BlockNumbers } from './block-numbers.ts'
import { eventsOf, type RawEvent } from './held-event.ts'
import type { Rewriter } from './rewriter.ts'

/** An event of a stream in the Messages shape. */
export interface ReplyEvent {
  readonly name: string
  /** JSON text. */
  readonly data: string
}

/** Rewrites one event: returns it, another, or a list to pass on in its place, which may be empty. */
export type MapEvent = (event: ReplyEvent) => ReplyEvent | readonly ReplyEvent[]

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Creates a rewriter that applies `map` to whole events. `translator` makes Messages events of a stream of another
 * dialect; without one, events that `map` returns unchanged pass byte for byte. Blocks are renumbered where some are
 * left out or added.
 */
export function createEventRewriter(map: MapEvent, translator?: EventTranslator): Rewriter {
  let rewrite = map
  let current = NOTHING
  let hasChanged = false
  const numbers = new BlockNumbers()
  const mapped = ({ bytes, name, data }: RawEvent): Buffer => {
    if (data === undefined) return bytes
    const event = { name, data: Buffer.from(data, 'latin1').toString() }
    const counted = [rewrite(event)].flat().map((passing) => numbers.counted(passing))
    return counted.length === 1 && counted[0] === event ? bytes : Buffer.from(counted.map(printRawEvent).join(''))
  }
  const mapPortion = (portion: Buffer): Buffer => {
    const events = eventsOf(portion)
    const passing = events.map(mapped)
    hasChanged ||= passing.some((bytes, index) => bytes !== events[index]?.bytes)
    return Buffer.concat(passing)
  }
  return {
    take(portion) {
      current = translator === undefined ? portion : Buffer.from(translate(portion, translator))
      return mapPortion(current)
    },
    finish() {
      current = translator === undefined ? NOTHING : Buffer.from(translator.end())
      return mapPortion(current)
    },
    giveUp() {
      rewrite = (event) => event
      return current
    },
    get hasChanged() {
      return hasChanged
    },
  }
}

/** Creates a rewriter that translates a stream into Messages events, and passes these to `inner`. */
export function createTranslatedRewriter(inner: Rewriter, translator: EventTranslator | undefined): Rewriter {
  return {
    take: (portion) => inner.take(translator === undefined ? portion : Buffer.from(translate(portion, translator))),
    finish: () => Buffer.concat([inner.take(Buffer.from(translator?.end() ?? '')), inner.finish()]),
    giveUp: () => inner.giveUp(),
    get hasChanged() {
      return inner.hasChanged
    },
  }
}

function translate(portion: Buffer, translator: EventTranslator): string {
  let text = ''
  scanEvents(portion, (name, source, start, end) => {
    text += translator.event(name, source.toString('utf8', start, end))
  })
  return text
}

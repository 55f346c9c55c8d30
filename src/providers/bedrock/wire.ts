import { z } from 'zod'
import { findMember } from '../../core/json/scan.ts'
import type { ByteSource } from '../../core/reply/byte-source.ts'
import { transformed } from '../../core/reply/flow.ts'
import { BytesReply, StreamReply } from '../../core/reply/reply.ts'
import type { Wire } from '../wire.ts'
import { exceptionEvent, toMessagesError } from './errors.ts'
import { type Frame, type FrameCodec, FrameReader } from './frames.ts'

const EVENT_STREAM = 'application/vnd.amazon.eventstream'
const NOTHING = Buffer.alloc(0)
const BLANK_LINE = Buffer.from('\n\n')
const HAS_LINE_END = /[\r\n]/
const LINE_END = /\r\n|\r|\n/g
const QUOTED_NAME = /^"[\w-]+"$/
const chunkSchema = z.looseObject({ bytes: z.string() })

/**
 * Reads the service's replies. JSON is the model's own message, byte for byte. A stream is a sequence of binary frames, each
 * with the JSON of one Messages event, which becomes a server-sent event unchanged.
 */
export function bedrockWire(codec: FrameCodec): Wire {
  return {
    isStream: (headers) => headers['content-type']?.startsWith(EVENT_STREAM) ?? false,
    stream: ({ status, headers }, source) =>
      new StreamReply(
        { status, headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' } },
        messagesSource(source, new FrameReader(codec)),
      ),
    bytes(status, headers, body) {
      if (status === 200) return new BytesReply(status, headers, body)
      const error = toMessagesError(status, headers, body)
      return new BytesReply(status, { ...headers, 'content-type': 'application/json' }, error)
    },
  }
}

/** Returns the events in the frames of a source. Fails on a damaged frame, and at the end of a truncated one. */
export function messagesSource(source: ByteSource, reader: FrameReader): ByteSource {
  return transformed(source, {
    data(chunk, to) {
      const { events, error } = eventsOf(reader, chunk)
      if (events.length > 0) to.push(events.length === 1 && events[0] ? events[0] : Buffer.concat(events))
      if (error !== undefined) to.fail(error)
    },
    end(to) {
      if (reader.isWithinFrame) to.fail(new Error('the provider ended the stream within a frame'))
    },
    fail() {},
  })
}

/** Returns the events that a chunk completes, up to the first unreadable frame. */
function eventsOf(reader: FrameReader, chunk: Buffer): { events: Buffer[]; error?: Error } {
  const events: Buffer[] = []
  try {
    for (const frame of reader.push(chunk)) {
      const event = toEvent(frame)
      if (event.length > 0) events.push(event)
    }
    return { events }
  } catch (cause) {
    return { events, error: new Error('the provider sent a frame that cannot be read', { cause }) }
  }
}

/** Converts a frame to an event. Frames of other kinds are the service's own additions and produce none. */
function toEvent({ headers, body }: Frame): Buffer {
  switch (headers.get(':message-type')) {
    case 'exception':
      return Buffer.from(exceptionEvent(headers.get(':exception-type') ?? 'an exception', body))
    case 'error': {
      const error = Buffer.from(JSON.stringify({ message: headers.get(':error-message') }))
      return Buffer.from(exceptionEvent(headers.get(':error-code') ?? 'an error', error))
    }
    default:
      return headers.get(':event-type') === 'chunk' ? chunkEvent(body) : NOTHING
  }
}

function chunkEvent(body: Buffer): Buffer {
  const { bytes } = chunkSchema.parse(JSON.parse(body.toString()))
  const json = Buffer.from(bytes, 'base64')
  const text = json.toString('latin1')
  const type = findMember(text, text.indexOf('{'), 'type')
  const quoted = type === undefined ? '' : text.slice(type.start, type.end)
  if (!QUOTED_NAME.test(quoted)) throw new Error('an event without a type')
  // A line break within the data would end the event; between JSON tokens it is equivalent on a line of its own.
  const data = HAS_LINE_END.test(text) ? Buffer.from(text.replace(LINE_END, '\ndata: '), 'latin1') : json
  return Buffer.concat([Buffer.from(`event: ${quoted.slice(1, -1)}\ndata: `), data, BLANK_LINE])
}

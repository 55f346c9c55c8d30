import { crc32 } from 'node:zlib'
import { scanEvents } from '../../../src/core/reply/sse.ts'

const STRING_HEADER = 7
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
/** Padding of the service's frames, so that their lengths reveal nothing. */
const PADDING = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Builds one frame of `application/vnd.amazon.eventstream`, with headers that are text. */
export function frame(headers: Readonly<Record<string, string>>, payload: string | Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)))
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(PRELUDE_BYTES)
  prelude.writeUInt32BE(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const unsigned = Buffer.concat([prelude, head, body])
  return Buffer.concat([unsigned, checksum(unsigned)])
}

/** Builds a frame with the JSON of one event of the model; `nth` determines the padding. */
export function chunkFrame(json: string | Buffer, nth = 0): Buffer {
  const payload = {
    bytes: Buffer.from(json).toString('base64'),
    p: PADDING.slice(0, 1 + ((nth * 11) % PADDING.length)),
  }
  const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' }
  return frame(headers, JSON.stringify(payload))
}

/** Builds a frame that ends a stream with an exception. */
export function exceptionFrame(name: string, message: string): Buffer {
  const headers = { ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' }
  return frame(headers, JSON.stringify({ message }))
}

/** Builds the frames of a stream of server-sent events. */
export function framesOf(events: Buffer): Buffer[] {
  const frames: Buffer[] = []
  scanEvents(events, (_name, source, start, end) => frames.push(chunkFrame(source.subarray(start, end), frames.length)))
  return frames
}

function header(name: string, value: string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(STRING_HEADER), length, bytes])
}

function checksum(bytes: Buffer): Buffer {
  const four = Buffer.alloc(CHECKSUM_BYTES)
  four.writeUInt32BE(crc32(bytes))
  return four
}

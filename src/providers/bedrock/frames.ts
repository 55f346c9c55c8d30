/** A message of an event stream: its text headers and its payload. */
export interface Frame {
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** The part of the vendor's codec in use: it checks both checksums and throws on a damaged frame. */
export interface FrameCodec {
  decode(frame: Uint8Array): {
    readonly headers: Readonly<Record<string, { readonly value: unknown }>>
    readonly body: Uint8Array
  }
}

/** Bytes of both lengths, the checksum of the prelude and the final checksum. */
const LEAST_FRAME_BYTES = 16
const LENGTH_BYTES = 4
const MOST_FRAME_BYTES = 16 * 1024 * 1024

/**
 * Splits `application/vnd.amazon.eventstream` into frames, however the bytes arrive. A frame begins with its length
 * (AWS, "Event stream encoding"); one whose length exceeds `mostBytes` is refused before its bytes are buffered.
 */
export class FrameReader {
  readonly #codec: FrameCodec
  readonly #mostBytes: number
  #held: Buffer[] = []
  #heldBytes = 0
  /** Number of bytes needed to continue. */
  #neededBytes = LENGTH_BYTES

  constructor(codec: FrameCodec, { mostBytes = MOST_FRAME_BYTES }: { mostBytes?: number } = {}) {
    this.#codec = codec
    this.#mostBytes = mostBytes
  }

  /** True when the bytes so far end within a frame. */
  get isWithinFrame(): boolean {
    return this.#heldBytes > 0
  }

  /** Yields the frames that `chunk` completes. Throws on a damaged or oversized frame. */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#neededBytes) return
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held, this.#heldBytes)
    let at = 0
    let length = this.#lengthAt(bytes, at)
    while (at + length <= bytes.length) {
      yield this.#decode(bytes.subarray(at, at + length))
      at += length
      length = this.#lengthAt(bytes, at)
    }
    this.#held = at < bytes.length ? [bytes.subarray(at)] : []
    this.#heldBytes = bytes.length - at
    this.#neededBytes = length
  }

  /** Returns the length of the frame at `at`, or more bytes than available when the length is still unknown. */
  #lengthAt(bytes: Buffer, at: number): number {
    if (bytes.length - at < LENGTH_BYTES) return LENGTH_BYTES
    const length = bytes.readUInt32BE(at)
    if (length >= LEAST_FRAME_BYTES && length <= this.#mostBytes) return length
    throw new Error(`expected a frame of ${LEAST_FRAME_BYTES} to ${this.#mostBytes} bytes, got one of ${length}`)
  }

  #decode(bytes: Buffer): Frame {
    const { headers, body } = this.#codec.decode(bytes)
    const texts = Object.entries(headers).flatMap(([name, { value }]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    )
    return { headers: new Map(texts), body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }
  }
}

/** Loads the vendor's codec. */
export async function loadFrameCodec(): Promise<FrameCodec> {
  const { EventStreamCodec } = await import('@smithy/eventstream-codec')
  return new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
    (text) => Buffer.from(text),
  )
}

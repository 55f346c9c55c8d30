import { releaseMemory } from './release-memory.ts'

/**
 * DESIGN: collects bytes that arrive in chunks of any size
 *
 * A Buffer costs about 100 bytes besides its content: a body in chunks of one byte would take 100 times its size. So small
 * chunks are copied into pages once there are many of them. Bodies of megabytes are copied into one block as they arrive:
 * as separate chunks they would exist twice while joined, and thousands of long-lived chunks leave the allocator with
 * memory that it cannot release (`docs/decisions/0075-memory-after-large-bodies.md`).
 *
 *   up to 1 MB     whole [ chunk │ chunk │ page of small ones │ … ]    joined by `take`
 *   beyond         block [ all bytes so far            │ room ]        at most twice the received bytes
 */
const SMALL_BYTES = 1024
/** Small chunks that are kept without a copy: most bodies and events have fewer, and need no page. */
const MOST_SMALL = 64
const PAGE_BYTES = 64 * 1024
/** Smaller chunks may be pieces of one of Node's own buffers, and are cheap to collect. */
const LEAST_RELEASED = 16 * 1024
const MOST_IN_CHUNKS = 1024 * 1024
const BLOCK_GROWTH = 2
const NOTHING = Buffer.alloc(0)

export interface ChunkBufferOptions {
  /** The announced number of bytes, or the limit; a block is no larger while that holds. Default: unknown. */
  readonly expectedBytes?: number
  /**
   * Set when nothing else reads the chunks. Large ones that fill their memory are freed once they are joined: waiting for a
   * collection, they would be half of a body's memory, and V8 collects the old generation for it.
   */
  readonly ownsChunks?: boolean
}

/** Collects bytes in memory proportional to their number, whatever the chunk sizes. */
export class ChunkBuffer {
  readonly #expectedBytes: number
  readonly #ownsChunks: boolean
  #whole: Buffer[] = []
  #page = NOTHING
  #pageBytes = 0
  #block = NOTHING
  #bytes = 0
  #small = 0

  constructor({ expectedBytes = Number.POSITIVE_INFINITY, ownsChunks = false }: ChunkBufferOptions = {}) {
    this.#expectedBytes = expectedBytes
    this.#ownsChunks = ownsChunks
  }

  /** Number of collected bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Keeps the chunk, or a copy of it. */
  add(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length
    if (bytes > MOST_IN_CHUNKS) this.#append(chunk)
    else if (chunk.length >= SMALL_BYTES || ++this.#small <= MOST_SMALL) this.#keep(chunk)
    else this.#copy(chunk)
    this.#bytes = bytes
  }

  /** Returns all bytes in order and `last` after them, and empties the buffer; a single chunk or block is not copied. */
  take(last: Buffer = NOTHING): Buffer {
    if (last.length > 0 && this.#block.length > 0) this.add(last)
    const taken = this.#block.length > 0 ? this.#block.subarray(0, this.#bytes) : this.#join(last)
    this.#whole = []
    this.#block = NOTHING
    this.#bytes = 0
    this.#small = 0
    return taken
  }

  #join(last: Buffer): Buffer {
    this.#endPage()
    const chunks = last.length === 0 ? this.#whole : [...this.#whole, last]
    const [only = NOTHING] = chunks
    if (chunks.length <= 1) return only
    const joined = Buffer.concat(chunks, this.#bytes + last.length)
    if (this.#ownsChunks) chunks.forEach(releaseLarge)
    return joined
  }

  #append(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length
    if (bytes > this.#block.length) this.#grow(bytes)
    chunk.copy(this.#block, this.#bytes)
  }

  /** Moves all bytes into a larger block. */
  #grow(leastBytes: number): void {
    const roomBytes = Math.min(BLOCK_GROWTH * leastBytes, this.#expectedBytes)
    const block = Buffer.allocUnsafeSlow(Math.max(leastBytes, roomBytes))
    if (this.#block.length > 0) {
      this.#block.copy(block, 0, 0, this.#bytes)
      releaseMemory(this.#block)
    } else {
      this.#endPage()
      let at = 0
      for (const chunk of this.#whole) at += chunk.copy(block, at)
      this.#whole = []
    }
    this.#block = block
  }

  #keep(chunk: Buffer): void {
    this.#endPage()
    if (chunk.length > 0) this.#whole.push(chunk)
  }

  #copy(chunk: Buffer): void {
    if (this.#page.length < this.#pageBytes + chunk.length) {
      this.#endPage()
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    }
    this.#pageBytes += chunk.copy(this.#page, this.#pageBytes)
  }

  #endPage(): void {
    if (this.#pageBytes > 0) this.#whole.push(this.#page.subarray(0, this.#pageBytes))
    this.#page = this.#page.subarray(this.#pageBytes)
    this.#pageBytes = 0
  }
}

/** Frees the memory of a large chunk that no other shares. */
function releaseLarge(chunk: Buffer): void {
  if (chunk.length >= LEAST_RELEASED && chunk.length === chunk.buffer.byteLength) releaseMemory(chunk)
}

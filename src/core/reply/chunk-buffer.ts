/**
 * DESIGN: bytes that come in pieces of any size
 *
 * A Buffer costs about 100 bytes beside what it holds: a body in chunks of one byte would take 100 times its size. So small
 * pieces are copied into pages once there are many of them. Bodies of megabytes are copied into one block as they come:
 * kept as pieces, they would be there twice when they are joined, and thousands of pieces that live long leave the
 * allocator with memory that it cannot give back (`docs/decisions/0137-memory-after-large-bodies.md`).
 *
 *   up to 1 MB     whole [ piece │ piece │ page of small ones │ … ]    joined when they are taken
 *   beyond         block [ all bytes so far            │ room ]        at most twice what has come
 */
const SMALL_BYTES = 1024
/** So many small pieces are kept as they are: most bodies and events have fewer, and need no page. */
const MOST_SMALL = 64
const PAGE_BYTES = 64 * 1024
const MOST_IN_PIECES = 1024 * 1024
const BLOCK_GROWTH = 2
const NOTHING = Buffer.alloc(0)

/** Collects bytes in memory in proportion to their number, however they are cut. */
export class ChunkBuffer {
  readonly #expectedBytes: number
  #whole: Buffer[] = []
  #page = NOTHING
  #pageBytes = 0
  #block = NOTHING
  #bytes = 0
  #small = 0

  /** `expectedBytes` is the number that was announced, or the most that is taken; a block is no larger while that holds. */
  constructor(expectedBytes = Number.POSITIVE_INFINITY) {
    this.#expectedBytes = expectedBytes
  }

  /** How many bytes there are. */
  get bytes(): number {
    return this.#bytes
  }

  /** Keeps the piece, or a copy of it. */
  add(piece: Buffer): void {
    const bytes = this.#bytes + piece.length
    if (bytes > MOST_IN_PIECES) this.#append(piece)
    else if (piece.length >= SMALL_BYTES || ++this.#small <= MOST_SMALL) this.#keep(piece)
    else this.#copy(piece)
    this.#bytes = bytes
  }

  /** All bytes in order, and `last` behind them; without a copy where there is one piece or a block. Nothing is left. */
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
    const pieces = last.length === 0 ? this.#whole : [...this.#whole, last]
    const [only = NOTHING] = pieces
    return pieces.length <= 1 ? only : Buffer.concat(pieces, this.#bytes + last.length)
  }

  #append(piece: Buffer): void {
    const bytes = this.#bytes + piece.length
    if (bytes > this.#block.length) this.#grow(bytes)
    piece.copy(this.#block, this.#bytes)
  }

  /** Moves all bytes into a larger block. */
  #grow(leastBytes: number): void {
    const roomBytes = Math.min(BLOCK_GROWTH * leastBytes, this.#expectedBytes)
    const block = Buffer.allocUnsafeSlow(Math.max(leastBytes, roomBytes))
    if (this.#block.length > 0) {
      this.#block.copy(block, 0, 0, this.#bytes)
      release(this.#block)
    } else {
      this.#endPage()
      let at = 0
      for (const piece of this.#whole) at += piece.copy(block, at)
      this.#whole = []
    }
    this.#block = block
  }

  #keep(piece: Buffer): void {
    this.#endPage()
    if (piece.length > 0) this.#whole.push(piece)
  }

  #copy(piece: Buffer): void {
    if (this.#page.length < this.#pageBytes + piece.length) {
      this.#endPage()
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    }
    this.#pageBytes += piece.copy(this.#page, this.#pageBytes)
  }

  #endPage(): void {
    if (this.#pageBytes > 0) this.#whole.push(this.#page.subarray(0, this.#pageBytes))
    this.#page = this.#page.subarray(this.#pageBytes)
    this.#pageBytes = 0
  }
}

/** Frees the memory of a block that nothing refers to any more, at once instead of at the next collection. */
function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

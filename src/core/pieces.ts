/**
 * DESIGN: bytes that come in pieces of any size
 *
 * A Buffer costs about 100 bytes beside what it holds. Whoever sends a body as chunks of one byte would make 32 MB of it
 * take 3 GB; so small pieces are copied into pages once there are many of them.
 */
const SMALL_BYTES = 1024
/** So many small pieces are kept as they are: most bodies and events have fewer, and need no page. */
const MOST_SMALL = 64
const PAGE_BYTES = 64 * 1024
const NOTHING = Buffer.alloc(0)

/** Collects bytes in memory in proportion to their number, however they are cut. */
export class Pieces {
  #whole: Buffer[] = []
  #page = NOTHING
  #pageBytes = 0
  #bytes = 0
  #small = 0

  /** How many bytes there are. */
  get bytes(): number {
    return this.#bytes
  }

  /** Keeps the piece, or a copy of it. */
  add(piece: Buffer): void {
    this.#bytes += piece.length
    if (piece.length >= SMALL_BYTES || ++this.#small <= MOST_SMALL) this.#keep(piece)
    else this.#copy(piece)
  }

  /** All bytes in order, and `last` behind them; without a copy where there is one piece. Nothing is left. */
  take(last: Buffer = NOTHING): Buffer {
    this.#endPage()
    const pieces = last.length === 0 ? this.#whole : [...this.#whole, last]
    const [only = NOTHING] = pieces
    const taken = pieces.length <= 1 ? only : Buffer.concat(pieces, this.#bytes + last.length)
    this.#whole = []
    this.#bytes = 0
    this.#small = 0
    return taken
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

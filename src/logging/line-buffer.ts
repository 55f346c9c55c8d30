/** Longest line taken as it is; a longer one goes out by itself. */
const LONGEST_LINE_CHARACTERS = 8 * 1024
const MOST_BYTES_PER_CHARACTER = 3

/**
 * Collects lines as bytes and passes them on in large pieces: when the buffer is full, and after `intervalMs`.
 * Strings that wait to be written survive the young generation and cost its collector more than the writing does;
 * bytes in one buffer cost it nothing.
 */
export class LineBuffer {
  readonly #buffer: Buffer
  readonly #write: (piece: string) => void
  readonly #intervalMs: number
  #length = 0
  #timer: NodeJS.Timeout | undefined

  constructor(write: (piece: string) => void, { sizeBytes, intervalMs }: { sizeBytes: number; intervalMs: number }) {
    this.#buffer = Buffer.allocUnsafeSlow(sizeBytes)
    this.#write = write
    this.#intervalMs = intervalMs
  }

  add(line: string): void {
    if (line.length > LONGEST_LINE_CHARACTERS) {
      this.flush()
      this.#write(line)
      return
    }
    if (this.#length + line.length * MOST_BYTES_PER_CHARACTER > this.#buffer.length) this.flush()
    this.#length += this.#buffer.write(line, this.#length)
    this.#timer ??= setTimeout(() => this.flush(), this.#intervalMs)
  }

  /** Passes on what is there. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#length === 0) return
    this.#write(this.#buffer.toString('utf8', 0, this.#length))
    this.#length = 0
  }
}

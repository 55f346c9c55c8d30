import { writeSync } from 'node:fs'
import { errorCodeOf } from '../core/errors.ts'

const MOST_BYTES_PER_CHARACTER = 3

/** Writes bytes and returns how many were accepted: fewer when the reader is slow. Throws when the reader is gone. */
export type Write = (bytes: Buffer) => number

/**
 * Writes to a file descriptor without waiting for a slow reader. That requires a non-blocking pipe: Node makes standard
 * output one when `process.stdout` is first used, which happens at the start.
 */
export function writerTo(fd: number): Write {
  return (bytes) => {
    try {
      return writeSync(fd, bytes)
    } catch (error) {
      if (errorCodeOf(error) === 'EAGAIN') return 0
      throw error
    }
  }
}

/**
 * Collects lines as bytes and writes them in large pieces: when the buffer is full, and after `intervalMs`.
 * Strings that wait to be written survive the young generation and cost its collector more than the writing does;
 * bytes in one buffer cost it nothing. Lines that do not fit because the reader is slow are dropped, and so are
 * all lines once the reader is gone: a log must neither hold up requests nor keep a process from ending.
 */
export class LineBuffer {
  readonly #buffer: Buffer
  readonly #write: Write
  readonly #intervalMs: number
  #length = 0
  #isBroken = false
  #timer: NodeJS.Timeout | undefined

  constructor(write: Write, { sizeBytes, intervalMs }: { sizeBytes: number; intervalMs: number }) {
    this.#buffer = Buffer.allocUnsafeSlow(sizeBytes)
    this.#write = write
    this.#intervalMs = intervalMs
  }

  add(line: string): void {
    const mostBytes = line.length * MOST_BYTES_PER_CHARACTER
    if (this.#length + mostBytes > this.#buffer.length) this.flush()
    if (this.#length + mostBytes > this.#buffer.length) return
    this.#length += this.#buffer.write(line, this.#length)
    this.#timer ??= setTimeout(() => this.flush(), this.#intervalMs)
  }

  /** Writes the buffer, as far as it is accepted; retries the rest later. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#length === 0) return
    const written = this.#writeOut()
    this.#buffer.copyWithin(0, written, this.#length)
    this.#length -= written
    if (this.#length > 0) this.#timer = setTimeout(() => this.flush(), this.#intervalMs)
  }

  /** Writes until everything is accepted or nothing more is; returns the number of bytes done with. */
  #writeOut(): number {
    let written = 0
    try {
      while (written < this.#length && !this.#isBroken) {
        const taken = this.#write(this.#buffer.subarray(written, this.#length))
        if (taken === 0) break
        written += taken
      }
    } catch {
      this.#isBroken = true
    }
    return this.#isBroken ? this.#length : written
  }
}

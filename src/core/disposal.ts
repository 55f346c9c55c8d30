import { abortable } from './abortable.ts'
import { messageOf } from './errors.ts'
import type { Log } from './ports/log.ts'

/**
 * Open parts, closed in the reverse order. Each part is closed even if others fail: one that
 * fails, or takes longer than `partTimeoutMs`, is logged.
 */
export class Disposal {
  readonly #log: Log
  readonly #partTimeoutMs: number
  #parts: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined

  constructor({ log, partTimeoutMs }: { log: Log; partTimeoutMs: number }) {
    this.#log = log
    this.#partTimeoutMs = partTimeoutMs
  }

  /** Registers an open part. */
  add(name: string, close: () => unknown): void {
    this.#parts.push(() => this.#closePart(name, close))
  }

  /** Registers a part that has just been opened, and returns it. */
  use<Part extends { close(): unknown } | undefined>(name: string, part: Part): Part {
    if (part !== undefined) this.add(name, () => part.close())
    return part
  }

  /** Registers a subsystem, which bounds the closing of its parts itself, and returns it. */
  nest<Subsystem extends { close(): Promise<void> } | undefined>(subsystem: Subsystem): Subsystem {
    if (subsystem !== undefined) this.#parts.push(() => subsystem.close())
    return subsystem
  }

  /** Closes all parts, once. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const parts = this.#parts.reverse()
    this.#parts = []
    for (const close of parts) await close()
  }

  async #closePart(name: string, close: () => unknown): Promise<void> {
    const onTimeout = () => new Error(`not closed within ${this.#partTimeoutMs} ms`)
    try {
      await abortable((async () => close())(), { timeoutMs: this.#partTimeoutMs, onTimeout })
    } catch (error) {
      this.#log.error({ part: name, reason: messageOf(error) }, 'gateway.close-failed')
    }
  }
}

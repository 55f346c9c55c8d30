import path from 'node:path'
import type { Clock, Log } from 'turnpike/plugin'
import type { ByteStore } from 'turnpike/plugin/cache'
import type { Shelf } from '../shelf.ts'
import type { Listed } from './protocol.ts'
import { FileThread } from './thread.ts'

const FILE = 'entries.db'

/** Options of the file. */
export interface FileStoreOptions {
  readonly folder: string
  /** Bound of the file's size. */
  readonly maxBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** Answers in a file that the processes of one machine share. */
export class FileStore implements ByteStore, Shelf {
  readonly engine = 'local'
  readonly #thread: FileThread
  readonly #clock: Clock

  constructor({ folder, maxBytes, clock, log }: FileStoreOptions) {
    this.#clock = clock
    this.#thread = new FileThread({ file: path.join(folder, FILE), maxBytes }, log)
  }

  async get(key: string): Promise<Buffer | undefined> {
    const value = await this.#thread.ask('get', { key, nowMs: this.#clock.nowMs() })
    return value && Buffer.from(value.buffer, value.byteOffset, value.length)
  }

  set(key: string, value: Buffer, ttlMs: number): Promise<void> {
    const nowMs = this.#clock.nowMs()
    return this.#thread.ask('set', { key, value, expiresAtMs: nowMs + ttlMs, nowMs })
  }

  delete(key: string): Promise<void> {
    return this.#thread.ask('delete', { key })
  }

  async list(take: (found: readonly Listed[]) => void): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const found: readonly Listed[] = await this.#thread.ask('list', { after, nowMs: this.#clock.nowMs() })
      take(found)
      after = found.at(-1)?.key
    }
  }

  evict(prefix: string): Promise<number> {
    return this.#thread.ask('evict', { prefix })
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

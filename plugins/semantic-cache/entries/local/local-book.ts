import path from 'node:path'
import type { ByteStore, Clock, Log } from 'turnpike/plugin'
import type { Entry } from '../../entry.ts'
import type { EntryBook, Follower, ScopedFact } from '../book.ts'
import { entryKey, type Fact, packFact, unpackFact } from '../fact.ts'
import type { Portion, Row } from './protocol.ts'
import { LocalThread } from './thread.ts'

const FILE = 'entries.db'
/** How often the thread looks for what other processes of the machine have written. */
const LOOK_EVERY_MS = 20

/** What the file of entries is opened with. */
export interface LocalBookOptions {
  readonly folder: string
  /** Bounds the file. */
  readonly maxBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** Entries and replies in a file that the processes of one machine share. */
export class LocalBook implements EntryBook {
  readonly engine = 'local'
  readonly #thread: LocalThread
  readonly #clock: Clock

  constructor({ folder, maxBytes, clock, log }: LocalBookOptions) {
    this.#clock = clock
    this.#thread = new LocalThread({ file: path.join(folder, FILE), maxBytes, lookEveryMs: LOOK_EVERY_MS }, log)
  }

  follow(follower: Follower): void {
    this.#thread.listen({
      onRows: (rows) => {
        for (const found of rows.flatMap(toScopedFact)) follower.onFact(found)
      },
      onForget: (scope) => follower.onForget(scope),
    })
  }

  load(scope: string, take: (facts: readonly Fact[]) => void): Promise<void> {
    const portion = (after: number) => this.#thread.ask('load', { scope, after, nowMs: this.#clock.nowMs() })
    return eachPortion(portion, (rows) => take(rows.map(({ fact }) => fact)))
  }

  list(take: (found: readonly ScopedFact[]) => void): Promise<void> {
    return eachPortion((after) => this.#thread.ask('list', { after, nowMs: this.#clock.nowMs() }), take)
  }

  append(scope: string, facts: readonly Fact[]): Promise<void> {
    return this.#thread.ask('append', { scope, facts: facts.map(packFact), nowMs: this.#clock.nowMs() })
  }

  drop(scope: string, entries: readonly Entry[]): Promise<void> {
    return this.#thread.ask('drop', { scope, keys: entries.map(entryKey) })
  }

  clear(scope: string | undefined): Promise<void> {
    return this.#thread.ask('clear', { scope, nowMs: this.#clock.nowMs() })
  }

  /** The replies that are kept in the same file. */
  replies(): ByteStore {
    const nowMs = () => this.#clock.nowMs()
    return {
      get: async (id) => {
        const value = await this.#thread.ask('getReply', { id, nowMs: nowMs() })
        return value && Buffer.from(value.buffer, value.byteOffset, value.length)
      },
      set: (id, value, ttlMs) =>
        this.#thread.ask('setReply', { id, value, expiresAtMs: nowMs() + ttlMs, nowMs: nowMs() }),
      delete: (id) => this.#thread.ask('deleteReply', { id }),
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

async function eachPortion(
  ask: (after: number) => Promise<Portion>,
  take: (found: readonly ScopedFact[]) => void,
): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { rows, next }: Portion = await ask(after)
    take(rows.flatMap(toScopedFact))
    after = next
  }
}

function toScopedFact({ scope, value }: Row): ScopedFact[] {
  const fact = unpackFact(value)
  return fact === undefined ? [] : [{ scope, fact }]
}

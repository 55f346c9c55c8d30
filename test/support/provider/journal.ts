import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { JsonObject } from '../json.ts'
import type { Rejection } from './rejection.ts'

/** Ending of a response: still open, sent whole, left by the client, or cut by the script or `close()`. */
export type Ending = 'open' | 'finished' | 'client-left' | 'cut'

/** One received request, and its result. */
export interface SeenRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  /** Names and values in turn, as sent. */
  rawHeaders: readonly string[]
  raw: Buffer
  /** The parsed body when it is a JSON object. */
  json: JsonObject | undefined
  /** Refusal of the request; `undefined` for a valid one. */
  refused: Rejection | undefined
  ended: Ending
  /** Resolves with `ended` when it is no longer `open`. */
  closed: Promise<Ending>
}

/** Observations of a stand-in. Code that changes it calls `changed()`, which wakes waiting tests. */
export interface Journal {
  seen: SeenRequest[]
  sockets: Set<Socket>
  /** Requests whose response is still open. */
  pending: number
  /** Set by `close()`: connections that end after it are cut by the stand-in. */
  isClosing: boolean
  /** The first mistake of a test's script; `close()` rejects with it. */
  failure: unknown
  record(entry: SeenRequest): void
  changed(): void
  until(condition: () => boolean, waitMs: number): Promise<void>
  /** Rejects all waits: their timers would keep the thread alive. */
  endWaits(): void
}

const MOST_SEEN = 1000

/** Creates an empty journal. */
export function createJournal(): Journal {
  const waits = new Map<() => void, () => void>()
  const journal: Journal = {
    seen: [],
    sockets: new Set(),
    pending: 0,
    isClosing: false,
    failure: undefined,
    record(entry) {
      journal.seen.push(entry)
      if (journal.seen.length > MOST_SEEN) journal.seen.shift()
      journal.changed()
    },
    changed() {
      for (const watch of waits.keys()) watch()
    },
    until: (condition, waitMs) =>
      new Promise((resolve, reject) => {
        const stop = (settle: () => void) => {
          clearTimeout(timer)
          waits.delete(watch)
          settle()
        }
        const watch = () => {
          if (condition()) stop(resolve)
        }
        const giveUp = () => stop(() => reject(new Error(describe(journal, condition, waitMs))))
        const timer = setTimeout(giveUp, waitMs)
        waits.set(watch, giveUp)
        watch()
      }),
    endWaits() {
      for (const giveUp of waits.values()) giveUp()
    },
  }
  return journal
}

/** Follows a socket until it closes. */
export function trackSocket(socket: Socket, { sockets, changed }: Journal): void {
  sockets.add(socket)
  changed()
  socket.on('error', () => {}) // a reset by the peer is an observation, not a failure
  socket.once('close', () => {
    sockets.delete(socket)
    changed()
  })
}

function describe({ seen, pending, sockets }: Journal, condition: () => boolean, waitMs: number): string {
  const counts = `${seen.length} requests seen, ${pending} pending, ${sockets.size} connections`
  return `Expected ${condition} within ${waitMs} ms; the stand-in has ${counts}`
}

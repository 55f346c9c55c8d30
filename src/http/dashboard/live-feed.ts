import { type FinishedRequest, isAmong, type ListedRequest, type Scopes } from '../../core/telemetry.ts'

/**
 * DESIGN — the live feed
 *
 *   publish() ──► last 200 (for whoever comes back)
 *            └──► each watcher: a queue of 50 ──every 100 ms, unless its connection is full──► one write
 *                                    └─ what does not fit is dropped, the oldest first, and counted: the page says so
 *
 * Guarantees: `publish` never waits, writes or throws; a watcher costs a push for each request and a bounded number of
 * rows a second, however busy the gateway and however slow its connection. Limits: it tells of requests of this process;
 * what other processes and instances did is in the list, not in the feed.
 */
const MOST_KEPT = 200
const MOST_QUEUED = 50
const MOST_WATCHERS = 100
const PAUSE_MS = 100

/** A request as the feed tells it: a row with its steps, for the small waterfall. */
export type LiveRequest = ListedRequest & { readonly steps: FinishedRequest['trace']['steps'] }

/** Where a watcher's events go. */
export interface LiveSink {
  /** Sends a text; `false`: the connection is full until `onDrain` is called. */
  write(text: string): boolean
  end(): void
}

/** Someone who watches. */
export interface LiveWatcher {
  /** Who is watched; may change while it lasts. */
  scopes: Scopes
  /** The connection takes more again. */
  onDrain(): void
  leave(): void
}

/** Calls back a little later; injected, so that tests can turn the time. */
export type Later = (work: () => void) => void

const afterPause: Later = (work) => void setTimeout(work, PAUSE_MS).unref()

/** Tells watchers of requests as they end. */
export class LiveFeed {
  readonly #kept: LiveRequest[] = []
  readonly #watchers = new Set<Watcher>()
  readonly #later: Later

  constructor(later: Later = afterPause) {
    this.#later = later
  }

  publish({ trace, ...row }: FinishedRequest): void {
    const request = { ...row, steps: trace.steps }
    this.#kept.push(request)
    if (this.#kept.length > MOST_KEPT) this.#kept.shift()
    for (const watcher of this.#watchers) watcher.tell(request)
  }

  /** Whether nobody else may watch. */
  get isFull(): boolean {
    return this.#watchers.size >= MOST_WATCHERS
  }

  /** Begins to tell; first what came after `lastId`, as far as it is still known. */
  watch(scopes: Scopes, sink: LiveSink, lastId?: string): LiveWatcher {
    const watcher = new Watcher(scopes, sink, { later: this.#later, onLeave: () => this.#watchers.delete(watcher) })
    this.#watchers.add(watcher)
    const seen = lastId === undefined ? this.#kept.length : this.#kept.findIndex(({ id }) => id === lastId) + 1
    for (const request of this.#kept.slice(seen)) watcher.tell(request)
    return watcher
  }

  /** Ends all connections, which have no end of their own. */
  close(): void {
    for (const watcher of [...this.#watchers]) watcher.end()
  }
}

interface Surroundings {
  later: Later
  onLeave: () => void
}

class Watcher implements LiveWatcher {
  scopes: Scopes
  readonly #sink: LiveSink
  readonly #surroundings: Surroundings
  #queue: LiveRequest[] = []
  #dropped = 0
  #isFull = false
  #isWaiting = false
  #hasLeft = false

  constructor(scopes: Scopes, sink: LiveSink, surroundings: Surroundings) {
    this.scopes = scopes
    this.#sink = sink
    this.#surroundings = surroundings
  }

  tell(request: LiveRequest): void {
    if (!isAmong(request.scope, this.scopes)) return
    this.#queue.push(request)
    if (this.#queue.length > MOST_QUEUED) {
      this.#queue.shift()
      this.#dropped++
    }
    this.#schedule()
  }

  onDrain(): void {
    this.#isFull = false
    this.#schedule()
  }

  leave(): void {
    this.#hasLeft = true
    this.#surroundings.onLeave()
  }

  end(): void {
    this.leave()
    this.#sink.end()
  }

  #schedule(): void {
    if (this.#isWaiting || this.#isFull || this.#queue.length === 0) return
    this.#isWaiting = true
    this.#surroundings.later(() => this.#send())
  }

  #send(): void {
    this.#isWaiting = false
    if (this.#hasLeft) return
    const rows = this.#queue.map((request) => `id: ${request.id}\ndata: ${JSON.stringify(request)}\n\n`)
    const dropped = this.#dropped === 0 ? '' : `event: dropped\ndata: ${this.#dropped}\n\n`
    this.#queue = []
    this.#dropped = 0
    this.#isFull = !this.#sink.write(dropped + rows.join(''))
  }
}

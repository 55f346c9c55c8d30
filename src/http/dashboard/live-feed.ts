import { type FinishedRequest, isAmong, type ListedRequest, type Scopes } from '../../core/telemetry.ts'

/**
 * DESIGN — the live feed
 *
 *   publish() ──► last 200 (for whoever comes back) ──► each watcher: sent at once, or, while its connection is full,
 *                                                       into a queue of 200; what does not fit is dropped, the oldest
 *                                                       first, and counted: the page says so.
 *
 * Guarantees: `publish` never waits and never throws; a slow watcher costs its queue and nothing else. Limits: it tells
 * of requests of this process; what other processes and instances did is in the list, not in the feed.
 */
const MOST_KEPT = 200
const MOST_QUEUED = 200
const MOST_WATCHERS = 100

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

/** Tells watchers of requests as they end. */
export class LiveFeed {
  readonly #kept: LiveRequest[] = []
  readonly #watchers = new Set<Watcher>()

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
    const watcher = new Watcher(scopes, sink, () => this.#watchers.delete(watcher))
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

class Watcher implements LiveWatcher {
  scopes: Scopes
  readonly #sink: LiveSink
  readonly #onLeave: () => void
  #queue: LiveRequest[] = []
  #isFull = false
  #dropped = 0

  constructor(scopes: Scopes, sink: LiveSink, onLeave: () => void) {
    this.scopes = scopes
    this.#sink = sink
    this.#onLeave = onLeave
  }

  tell(request: LiveRequest): void {
    if (!isAmong(request.scope, this.scopes)) return
    if (!this.#isFull) return void this.#send(request)
    this.#queue.push(request)
    if (this.#queue.length <= MOST_QUEUED) return
    this.#queue.shift()
    this.#dropped++
  }

  onDrain(): void {
    this.#isFull = false
    if (this.#dropped > 0) {
      this.#isFull = !this.#sink.write(`event: dropped\ndata: ${this.#dropped}\n\n`)
      this.#dropped = 0
    }
    while (!this.#isFull) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#send(next)
    }
  }

  leave(): void {
    this.#onLeave()
  }

  end(): void {
    this.leave()
    this.#sink.end()
  }

  #send(request: LiveRequest): void {
    this.#isFull = !this.#sink.write(`id: ${request.id}\ndata: ${JSON.stringify(request)}\n\n`)
  }
}

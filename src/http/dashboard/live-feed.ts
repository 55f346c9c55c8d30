import { type FinishedRequest, isAmong, type ListedRequest, type Scopes } from '../../core/telemetry/telemetry.ts'

/**
 * DESIGN — the live feed of a process
 *
 *   publish() ──► last 200 (for pages that reconnect)
 *            └──► each watcher: a queue of 50 ──every 100 ms, unless its connection is full──► one batch
 *                                    └─ overflow is dropped, the oldest first, and counted: the page shows the count
 *
 * Guarantees: `publish` never waits, writes or throws; a watcher costs a push for each request and a bounded number of
 * rows a second, however busy the gateway and however slow its connection. A watcher is a page, or one of another
 * process: see `live-pages.ts`.
 */
const MOST_KEPT = 200
const MOST_QUEUED = 50
const PAUSE_MS = 100

/** A request in the feed: a row with its steps, for the small waterfall. */
export type LiveRequest = ListedRequest & { readonly steps: FinishedRequest['trace']['steps'] }

/** Requests that are sent to a watcher together. */
export interface LiveBatch {
  readonly requests: readonly LiveRequest[]
  /** Requests that were dropped before these. */
  readonly dropped: number
}

/** Destination of a watcher's batches. */
export interface LiveSink {
  /** Sends a batch; returns `false` when the connection is full, until `onDrain` is called. */
  write(batch: LiveBatch): boolean
  end(): void
}

/** Options of watching. */
export interface WatchOptions {
  readonly scopes: Scopes
  readonly sink: LiveSink
  /** The last request that was received: later ones that are still kept are sent first. */
  readonly lastId?: string | undefined
  /** Time since the page was opened at another process, in milliseconds: requests that ended since are sent first. */
  readonly openForMs?: number
  readonly onLeave?: () => void
}

/** A page that receives requests, of this process or of another. */
export interface LiveWatcher {
  /** Scopes whose requests are sent; may change meanwhile. */
  scopes: Scopes
  /** Adds a batch of another process. */
  take(batch: LiveBatch): void
  /** Resumes sending: the connection has drained. */
  onDrain(): void
  leave(): void
}

/** Calls back after a pause; injected, so that tests control time. */
export type Later = (work: () => void) => void

const afterPause: Later = (work) => void setTimeout(work, PAUSE_MS).unref()

/** Sends requests to watchers as they end. */
export class LiveFeed {
  readonly #kept: { readonly request: FinishedRequest; readonly atMs: number }[] = []
  readonly #watchers = new Set<Watcher>()
  readonly #later: Later

  constructor(later: Later = afterPause) {
    this.#later = later
  }

  publish(request: FinishedRequest): void {
    this.#kept.push({ request, atMs: performance.now() })
    if (this.#kept.length > MOST_KEPT) this.#kept.shift()
    if (this.#watchers.size === 0) return
    const live = toLive(request)
    for (const watcher of this.#watchers) watcher.add(live)
  }

  /** Adds a watcher. */
  watch({ scopes, sink, onLeave, ...seen }: WatchOptions): LiveWatcher {
    const forget = () => {
      this.#watchers.delete(watcher)
      onLeave?.()
    }
    const watcher = new Watcher(scopes, sink, { later: this.#later, onLeave: forget })
    this.#watchers.add(watcher)
    for (const request of this.#unseen(seen)) watcher.add(request)
    return watcher
  }

  /** Ends all connections, which do not end by themselves. */
  close(): void {
    for (const watcher of [...this.#watchers]) watcher.end()
  }

  /**
   * Returns the requests after the last one received: by position, or by the time in its id if another process sent it.
   */
  #unseen({ lastId, openForMs = 0 }: Pick<WatchOptions, 'lastId' | 'openForMs'>): readonly LiveRequest[] {
    const openedAtMs = performance.now() - openForMs
    const seen = this.#kept.findIndex(({ request }) => request.id === lastId)
    const isUnseen = (id: string, index: number) => lastId !== undefined && (seen < 0 ? id > lastId : index > seen)
    return this.#kept
      .filter(({ request: { id }, atMs }, index) => atMs > openedAtMs || isUnseen(id, index))
      .map(({ request }) => toLive(request))
  }
}

function toLive({ trace, ...row }: FinishedRequest): LiveRequest {
  return { ...row, steps: trace.steps }
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

  add(request: LiveRequest): void {
    if (!isAmong(request.scope, this.scopes)) return
    this.#queue.push(request)
    if (this.#queue.length > MOST_QUEUED) {
      this.#queue.shift()
      this.#dropped++
    }
    this.#schedule()
  }

  take({ requests, dropped }: LiveBatch): void {
    this.#dropped += dropped
    for (const request of requests) this.add(request)
    this.#schedule()
  }

  onDrain(): void {
    this.#isFull = false
    this.#schedule()
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#surroundings.onLeave()
  }

  end(): void {
    this.leave()
    this.#sink.end()
  }

  #schedule(): void {
    if (this.#isWaiting || this.#isFull || (this.#queue.length === 0 && this.#dropped === 0)) return
    this.#isWaiting = true
    this.#surroundings.later(() => this.#send())
  }

  #send(): void {
    this.#isWaiting = false
    if (this.#hasLeft) return
    const batch = { requests: this.#queue, dropped: this.#dropped }
    this.#queue = []
    this.#dropped = 0
    this.#isFull = !this.#sink.write(batch)
  }
}

import { type FinishedRequest, isAmong, type ListedRequest, type Scopes } from '../../core/telemetry/telemetry.ts'

/**
 * DESIGN — the live feed of a process
 *
 *   publish() ──► last 200 (for whoever comes back)
 *            └──► each watcher: a queue of 50 ──every 100 ms, unless its connection is full──► one batch
 *                                    └─ what does not fit is dropped, the oldest first, and counted: the page says so
 *
 * Guarantees: `publish` never waits, writes or throws; a watcher costs a push for each request and a bounded number of
 * rows a second, however busy the gateway and however slow its connection. A watcher is a page, or one of another process:
 * see `live-pages.ts`.
 */
const MOST_KEPT = 200
const MOST_QUEUED = 50
const PAUSE_MS = 100

/** A request as the feed tells it: a row with its steps, for the small waterfall. */
export type LiveRequest = ListedRequest & { readonly steps: FinishedRequest['trace']['steps'] }

/** What a watcher is told at once. */
export interface LiveBatch {
  readonly requests: readonly LiveRequest[]
  /** How many there were besides that could not be told. */
  readonly dropped: number
}

/** Where a watcher's batches go. */
export interface LiveSink {
  /** Sends a batch; `false`: the connection is full until `onDrain` is called. */
  write(batch: LiveBatch): boolean
  end(): void
}

/** How somebody watches. */
export interface WatchOptions {
  readonly scopes: Scopes
  readonly sink: LiveSink
  /** The last request that was seen: what came after it is told first, as far as it is still known. */
  readonly lastId?: string | undefined
  /** How long it has been watching elsewhere, in milliseconds: what has ended since is told first. */
  readonly openForMs?: number
  readonly onLeave?: () => void
}

/** Someone who watches. */
export interface LiveWatcher {
  /** Who is watched; may change while it lasts. */
  scopes: Scopes
  /** Takes in what another process has told. */
  take(batch: LiveBatch): void
  /** The connection takes more again. */
  onDrain(): void
  leave(): void
}

/** Calls back a little later; injected, so that tests can turn the time. */
export type Later = (work: () => void) => void

const afterPause: Later = (work) => void setTimeout(work, PAUSE_MS).unref()

/** Tells watchers of requests as they end. */
export class LiveFeed {
  readonly #kept: { readonly request: LiveRequest; readonly atMs: number }[] = []
  readonly #watchers = new Set<Watcher>()
  readonly #later: Later

  constructor(later: Later = afterPause) {
    this.#later = later
  }

  publish({ trace, ...row }: FinishedRequest): void {
    const request = { ...row, steps: trace.steps }
    this.#kept.push({ request, atMs: performance.now() })
    if (this.#kept.length > MOST_KEPT) this.#kept.shift()
    for (const watcher of this.#watchers) watcher.tell(request)
  }

  /** Begins to tell. */
  watch({ scopes, sink, onLeave, ...seen }: WatchOptions): LiveWatcher {
    const forget = () => {
      this.#watchers.delete(watcher)
      onLeave?.()
    }
    const watcher = new Watcher(scopes, sink, { later: this.#later, onLeave: forget })
    this.#watchers.add(watcher)
    for (const request of this.#unseen(seen)) watcher.tell(request)
    return watcher
  }

  /** Ends all connections, which have no end of their own. */
  close(): void {
    for (const watcher of [...this.#watchers]) watcher.end()
  }

  /** After the last request that was seen: by its place, or by its id, which has its time, where it is another process's. */
  #unseen({ lastId, openForMs = 0 }: Pick<WatchOptions, 'lastId' | 'openForMs'>): readonly LiveRequest[] {
    const openedAtMs = performance.now() - openForMs
    const seen = this.#kept.findIndex(({ request }) => request.id === lastId)
    const isUnseen = (id: string, index: number) => lastId !== undefined && (seen < 0 ? id > lastId : index > seen)
    return this.#kept
      .filter(({ request: { id }, atMs }, index) => atMs > openedAtMs || isUnseen(id, index))
      .map(({ request }) => request)
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

  take({ requests, dropped }: LiveBatch): void {
    this.#dropped += dropped
    for (const request of requests) this.tell(request)
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

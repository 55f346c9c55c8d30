import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import type { Channel } from '../../core/ports/channel.ts'
import type { Log } from '../../core/ports/log.ts'
import type { LiveBatch, LiveFeed, LiveSink, LiveWatcher, WatchOptions } from './live-feed.ts'
import { readText } from './read-text.ts'

/**
 * DESIGN — pages that watch all processes
 *
 *   page ◄── queue of 50 ◄──┬── own feed
 *                           └── batches ◄─ channel ◄─ queue of 50, in each other process ◄── its feed
 *
 *   every 2 s, while a page is open here:  "these pages watch these scopes" ─ channel ─► all processes
 *
 * Guarantees: while no page is open, nothing is published. A process sends to another's page only requests in that
 * page's scopes, from a queue per page: pages do not slow each other. It sends a batch after the one before was
 * delivered; overflow is dropped and counted. A process that misses four heartbeats gets nothing more; one that learns
 * late of a page sends the requests that have ended since the page was opened.
 */
const TOPIC = 'live'
const BEAT_MS = 2000
const MOST_SILENT_BEATS = 4
const MOST_PAGES = 100
/** Most pages of all other processes together. */
const MOST_AWAY = 500

const announcement = z.object({
  home: z.string(),
  pages: z.array(
    z.object({
      id: z.string(),
      scopes: z.union([z.string(), z.array(z.string()), z.object({ everybody: z.literal(true) })]),
      lastId: z.string().optional(),
      openForMs: z.number().min(0),
    }),
  ),
})
type Announced = z.infer<typeof announcement>['pages'][number]

const remoteBatch = z.object({
  page: z.string(),
  // Safe: other processes run the same code; pages are filtered by the scope, which is checked.
  requests: z.array(z.custom<LiveBatch['requests'][number]>((row) => typeof Object(row).scope === 'string')),
  dropped: z.int().min(0),
})

/** Input of `LivePages`. */
export interface LivePagesOptions {
  readonly feed: LiveFeed
  /** Channel to the other processes; `undefined`: there are none. */
  readonly channel: Channel | undefined
  readonly log: Log
}

interface Page {
  readonly watcher: LiveWatcher
  readonly lastId: string | undefined
  readonly openedAtMs: number
}

interface Home {
  readonly watchers: Map<string, LiveWatcher>
  silentBeats: number
}

/** The pages of this process, and the feeds of other processes' pages. */
export class LivePages {
  readonly #options: LivePagesOptions
  readonly #home = randomUUID()
  readonly #pages = new Map<string, Page>()
  readonly #away = new Map<string, Home>()
  readonly #timer: NodeJS.Timeout | undefined
  #isAnnouncing = false

  constructor(options: LivePagesOptions) {
    this.#options = options
    const { channel } = options
    if (channel === undefined) return
    channel.subscribe(TOPIC, (text) => this.#hear(text))
    channel.subscribe(`${TOPIC}:${this.#home}`, (text) => this.#take(text))
    this.#timer = setInterval(() => this.beat(), BEAT_MS).unref()
  }

  /** True when no further page may watch. */
  get isFull(): boolean {
    return this.#pages.size >= MOST_PAGES
  }

  /** Sends a page the requests of all processes from now on. */
  watch({ scopes, sink, lastId }: Omit<WatchOptions, 'onLeave'>): LiveWatcher {
    const id = randomUUID()
    const onLeave = () => {
      this.#pages.delete(id)
      this.#announceSoon()
    }
    const watcher = this.#options.feed.watch({ scopes, sink, lastId, onLeave })
    this.#pages.set(id, { watcher, lastId, openedAtMs: performance.now() })
    this.#announceSoon()
    return watcher
  }

  /** Announces this process's pages again, and removes processes that have missed their heartbeats. */
  beat(): void {
    if (this.#pages.size > 0) this.#announceSoon()
    for (const [name, home] of this.#away) if (++home.silentBeats > MOST_SILENT_BEATS) this.#watchFrom(name, home, [])
  }

  /** Ends all pages; other processes remove them after four missed heartbeats, if the announcement is lost. */
  close(): void {
    clearInterval(this.#timer)
    this.#options.feed.close()
  }

  /** Announces once for all changes of the same tick. */
  #announceSoon(): void {
    const { channel, log } = this.#options
    if (channel === undefined || this.#isAnnouncing) return
    this.#isAnnouncing = true
    queueMicrotask(() => {
      this.#isAnnouncing = false
      const nowMs = performance.now()
      const pages = [...this.#pages].map(([id, { watcher, lastId, openedAtMs }]) => {
        return { id, scopes: watcher.scopes, lastId, openForMs: nowMs - openedAtMs }
      })
      channel.publish(TOPIC, JSON.stringify({ home: this.#home, pages })).catch((error: unknown) => {
        log.debug({ reason: messageOf(error) }, 'live.not-announced')
      })
    })
  }

  #hear(text: string): void {
    const data = readText(announcement, text)
    if (data === undefined || data.home === this.#home) return
    const home = this.#away.get(data.home) ?? { watchers: new Map<string, LiveWatcher>(), silentBeats: 0 }
    home.silentBeats = 0
    this.#away.set(data.home, home)
    this.#watchFrom(data.home, home, data.pages)
  }

  /** Makes the watchers of another process match its announced pages. */
  #watchFrom(name: string, { watchers }: Home, pages: readonly Announced[]): void {
    for (const [id, watcher] of watchers) {
      const page = pages.find((page) => page.id === id)
      if (page !== undefined) watcher.scopes = page.scopes
      else {
        watcher.leave()
        watchers.delete(id)
      }
    }
    let room = MOST_AWAY - [...this.#away.values()].reduce((sum, home) => sum + home.watchers.size, 0)
    for (const page of pages)
      if (!watchers.has(page.id) && room-- > 0) watchers.set(page.id, this.#watchAway(name, page))
    if (watchers.size === 0) this.#away.delete(name)
  }

  #watchAway(home: string, { id, ...watching }: Announced): LiveWatcher {
    const { feed, channel } = this.#options
    const sink: LiveSink = {
      write(batch) {
        // Requests of a lost batch count as dropped in the next one.
        const lose = () => watcher.take({ requests: [], dropped: batch.requests.length + batch.dropped })
        const text = JSON.stringify({ page: id, ...batch })
        channel
          ?.publish(`${TOPIC}:${home}`, text)
          .catch(lose)
          .finally(() => watcher.onDrain())
        return false
      },
      end() {},
    }
    const watcher = feed.watch({ ...watching, sink })
    return watcher
  }

  #take(text: string): void {
    const data = readText(remoteBatch, text)
    if (data !== undefined) this.#pages.get(data.page)?.watcher.take(data)
  }
}

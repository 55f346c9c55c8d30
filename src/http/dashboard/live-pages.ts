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
 *   every 2 s, while a page is open here:  "these pages watch these scopes, tell me" ─ channel ─► all processes
 *
 * Guarantees: while nobody watches anywhere, nothing is published. A process tells a page of another what that page may
 * see and no more, from a queue of its own: one page's strangers cost another nothing. It sends its next batch when the
 * one before has gone; what does not fit meanwhile is dropped, and counted. A process that is not heard of for four beats
 * is told nothing any more; one that learns late who watches tells what has ended since that page was opened.
 */
const TOPIC = 'live'
const BEAT_MS = 2000
const MOST_SILENT_BEATS = 4
const MOST_PAGES = 100
/** Pages of all other processes together. */
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

const told = z.object({
  page: z.string(),
  // Safe: other processes run this very code; what a page must not see goes by the scope, which is looked at.
  requests: z.array(z.custom<LiveBatch['requests'][number]>((row) => typeof Object(row).scope === 'string')),
  dropped: z.int().min(0),
})

/** What pages watch. */
export interface LivePagesOptions {
  readonly feed: LiveFeed
  /** To the other processes, if there are any. */
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

/** The pages that are open here, and what other processes' pages are told. */
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

  /** Whether nobody else may watch. */
  get isFull(): boolean {
    return this.#pages.size >= MOST_PAGES
  }

  /** Begins to tell a page of what all processes do. */
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

  /** Says again who watches here, and forgets those of whom nothing was heard. */
  beat(): void {
    if (this.#pages.size > 0) this.#announceSoon()
    for (const [name, home] of this.#away) if (++home.silentBeats > MOST_SILENT_BEATS) this.#watchFrom(name, home, [])
  }

  /** Ends all pages; what they leave behind elsewhere ends with their silence, if it is not told in time. */
  close(): void {
    clearInterval(this.#timer)
    this.#options.feed.close()
  }

  /** Once for all that changes at the same time. */
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

  /** Lets exactly these pages of another process watch. */
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
      if (!watchers.has(page.id) && room-- > 0) watchers.set(page.id, this.#tellAway(name, page))
    if (watchers.size === 0) this.#away.delete(name)
  }

  #tellAway(home: string, { id, ...watching }: Announced): LiveWatcher {
    const { feed, channel } = this.#options
    const sink: LiveSink = {
      write(batch) {
        // What could not be told was still there, and counts with the next.
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
    const data = readText(told, text)
    if (data !== undefined) this.#pages.get(data.page)?.watcher.take(data)
  }
}

import type { Lifetime } from './economics.ts'
import { LATER_MS, type Pending, SOON_MS, Tally } from './odds.ts'
import type { Place } from './outline.ts'

/** Taken off a lifetime: the provider's clock starts before the gateway's, and a request takes time to get there. */
const SLACK_MS = 5000
const LASTS_MS = { '5m': SOON_MS - SLACK_MS, '1h': LATER_MS - SLACK_MS } as const
/** Longest time in which a write that has no reply yet keeps others from writing the same. */
const LONGEST_WRITE_MS = 60_000
/** Places of a conversation that are remembered. */
const MOST_ENTRIES = 8

/** Prefix that the provider's cache may have. */
export interface Cached {
  readonly tokens: number
  /** Set while the provider is believed to have it. */
  lifetime: Lifetime | undefined
  /** Last write or read. */
  usedAtMs: number
}

/** Prefix that ends with a turn of a conversation. */
export interface Entry extends Cached {
  readonly count: number
  readonly digest: string
  readonly place: Place | undefined
  readonly pending: Pending
}

/** Returns true if the provider's cache should have this prefix. */
export function isLive({ lifetime, usedAtMs }: Cached, nowMs: number): boolean {
  return lifetime !== undefined && nowMs - usedAtMs <= LASTS_MS[lifetime]
}

/** Records a write of a prefix, or a read, which keeps the lifetime of what was written. */
export function believe(cached: Cached, lifetime: Lifetime, nowMs: number): void {
  if (!isLive(cached, nowMs)) cached.lifetime = lifetime
  cached.usedAtMs = Math.max(cached.usedAtMs, nowMs)
}

/** Prefix that several conversations may share. */
export class SharedPrefix implements Cached {
  readonly tokens: number
  lifetime: Lifetime | undefined
  usedAtMs = 0
  /** How often it was asked for. */
  arrivals = 0
  pending: Pending | undefined
  /** Arrivals of the prefix itself. */
  readonly tally = new Tally()
  /** Turns of conversations that begin with it. */
  readonly turns = new Tallies()
  #writingSinceMs: number | undefined

  constructor(tokens: number) {
    this.tokens = tokens
  }

  /** Returns true while another request writes it, and can be read by none yet. */
  isBeingWritten(nowMs: number): boolean {
    return this.#writingSinceMs !== undefined && nowMs - this.#writingSinceMs <= LONGEST_WRITE_MS
  }

  beginWrite(nowMs: number): void {
    this.#writingSinceMs = nowMs
  }

  endWrite(): void {
    this.#writingSinceMs = undefined
  }
}

/** Turns of one conversation. */
export class Turns {
  readonly tally = { text: new Tally(), result: new Tally() }
  #entries: readonly Entry[] = []

  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** Adds a turn; the eight latest are remembered. */
  add(entry: Entry): void {
    const others = this.#entries.filter(({ count, digest }) => count !== entry.count || digest !== entry.digest)
    this.#entries = [...others, entry].slice(-MOST_ENTRIES)
  }
}

const MOST_TALLIES = 64

/** Tallies by name, at most 64. */
export class Tallies {
  readonly #byName = new Map<string, Tally>()

  of(name: string): Tally {
    let tally = this.#byName.get(name)
    if (tally === undefined) {
      tally = new Tally()
      if (this.#byName.size < MOST_TALLIES) this.#byName.set(name, tally)
    }
    return tally
  }
}

/** Tokens that count for as much as what was observed, before reads are trusted less. */
const TRUSTED_TOKENS = 20_000
const REMEMBERED_TOKENS = 2_000_000
const FADES_TO = 0.999

/** Share of the expected reads that the bills have confirmed. */
export class Confirmed {
  #expected = 0
  #read = 0

  observe(expected: number, read: number): void {
    if (this.#expected > REMEMBERED_TOKENS) {
      this.#expected /= 2
      this.#read /= 2
    }
    this.#expected += expected
    this.#read += Math.min(read, expected)
  }

  /** Forgets a little, so that reads that are not trusted are tried again some day. */
  fade(): void {
    this.#expected *= FADES_TO
    this.#read *= FADES_TO
  }

  get share(): number {
    return (this.#read + TRUSTED_TOKENS) / (this.#expected + TRUSTED_TOKENS)
  }
}

/** Share of the input that first turns have read without marks, as of providers that cache every prompt. */
export class UnmarkedReads {
  #inputTokens = 0
  #readTokens = 0

  observe(inputTokens: number, readTokens: number): void {
    if (this.#inputTokens > REMEMBERED_TOKENS) {
      this.#inputTokens /= 2
      this.#readTokens /= 2
    }
    this.#inputTokens += inputTokens
    this.#readTokens += readTokens
  }

  get share(): number {
    return this.#readTokens / Math.max(1, this.#inputTokens)
  }
}

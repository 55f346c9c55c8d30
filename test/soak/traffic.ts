import { setTimeout as sleep } from 'node:timers/promises'
import { createKey, sendAs } from '../support/accounts.ts'
import type { JsonObject } from '../support/json.ts'
import { type Client, createClient } from './client.ts'
import { question, requestsOf, type Session } from './conversations.ts'
import type { Fixture } from './fixture.ts'
import { type Chance, createChance } from './random.ts'
import type { Tally } from './tally.ts'

/** Users, and amount of their traffic. */
export interface TrafficOptions {
  readonly fixture: Fixture
  readonly sessions: readonly Session[]
  readonly tally: Tally
  readonly users: number
  /** Between two requests of a user, on average, in milliseconds. */
  readonly thinksMs: number
  readonly seed: number
  /** Ends the day. */
  readonly signal: AbortSignal
}

/** Returns the name of the user with this number. */
export function userName(index: number): string {
  return `user-${index}`
}

const REPEATS = 0.12
const QUESTIONS = 0.2
const CHATS = 0.3
const LEAVES = 0.05
const LEAVES_WITHIN_MS = 120
const ROTATES = 0.15
const BURST = 24
/** Beyond that a user does not catch up. */
const MOST_LATE_MS = 5000

/** Lets users come, send, leave and come again until the day ends. Rejects when a user gets no first key. */
export async function runTraffic(options: TrafficOptions): Promise<void> {
  const users = Array.from({ length: options.users }, (_, index) => new User(index, options))
  await Promise.all(users.map((user) => user.live()))
}

/** One user: an account, a key at a time, a program, and sessions one after another. */
class User {
  readonly #name: string
  readonly #options: TrafficOptions
  readonly #chance: Chance
  readonly #client: Client
  #key = { id: '', key: '' }
  #sessions = 0
  #dueAtMs = performance.now()

  constructor(index: number, options: TrafficOptions) {
    this.#name = userName(index)
    this.#options = options
    this.#chance = createChance(options.seed * 1000 + index)
    this.#client = createClient({ ...options.fixture, tally: options.tally })
  }

  async live(): Promise<void> {
    const { signal, sessions } = this.#options
    await this.#rotate()
    while (!signal.aborted) {
      await this.#talk(this.#chance.pick(sessions))
      // A machine that is too slow may refuse: then the key before stays.
      if (this.#chance.happens(ROTATES)) await this.#rotate().catch(() => {})
      if (this.#chance.happens(ROTATES)) await this.#burst()
    }
    this.#client.close()
  }

  async #talk(session: Session): Promise<void> {
    const chance = this.#chance
    const mark = `${this.#name}-${++this.#sessions}`
    for (const body of requestsOf(session, mark, chance)) {
      if (this.#options.signal.aborted) return
      await this.#ask(body)
      if (chance.happens(REPEATS)) await this.#ask(body)
      if (chance.happens(QUESTIONS)) await this.#ask(question(chance), chance.happens(CHATS))
    }
  }

  async #ask(body: JsonObject, isChat = false): Promise<void> {
    await this.#think()
    const leaves = this.#chance.happens(LEAVES) && { leavesAfterMs: this.#chance.below(LEAVES_WITHIN_MS) }
    await this.#client.ask(body, { ...this.#door(), ...(isChat && { path: '/v1/chat/completions' }), ...leaves })
  }

  /** Until the next request is due, however long the last one took: a slow machine makes no calmer day. */
  async #think(): Promise<void> {
    const nowMs = performance.now()
    const { thinksMs } = this.#options
    const pauseMs = Math.min(this.#chance.waitMs(thinksMs), 10 * thinksMs)
    this.#dueAtMs = Math.max(this.#dueAtMs + pauseMs, nowMs - MOST_LATE_MS)
    await sleep(Math.max(0, this.#dueAtMs - nowMs))
  }

  /** Many at the same time, half of them the same. */
  async #burst(): Promise<void> {
    const same = question(this.#chance)
    const asked = Array.from({ length: BURST }, (_, index) => (index % 2 === 0 ? same : question(this.#chance)))
    await Promise.all(asked.map((body) => this.#client.ask(body, this.#door())))
  }

  /** A new key; the one before is revoked. */
  async #rotate(): Promise<void> {
    const { url } = this.#door()
    const before = this.#key
    this.#key = await createKey({ url }, this.#name, { limits: { costPerDay: 50_000 } })
    if (before.id !== '') await sendAs(this.#name, url, { method: 'DELETE', path: `/v1/keys/${before.id}` })
  }

  #door(): { url: string; key: string } {
    const { gateway } = this.#chance.pick(this.#options.fixture.nodes)
    return { url: gateway.url, key: this.#key.key }
  }
}

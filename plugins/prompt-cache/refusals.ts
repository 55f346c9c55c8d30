import { LRUCache } from 'lru-cache'
import type { Exchange } from 'turnpike/plugin'

const MOST_TARGETS = 1000
const PAUSE_MS = 60 * 60_000
const BAD_REQUEST = 400
const ABOUT_MARKS = /cache_control|ephemeral|prompt_cache/

/** Callers' targets that have refused a request because of its marks: they get none for an hour. */
export class Refusals {
  readonly #untilMs = new LRUCache<string, number>({ max: MOST_TARGETS })

  has(scope: string, nowMs: number): boolean {
    return nowMs < (this.#untilMs.get(scope) ?? 0)
  }

  /** Reads the reply to an edited request; returns true if it refuses marks. */
  read({ reply }: Pick<Exchange, 'reply'>, scope: string, nowMs: number): boolean {
    if (reply?.kind !== 'bytes' || reply.status !== BAD_REQUEST) return false
    if (!ABOUT_MARKS.test(reply.bytes.toString('latin1'))) return false
    this.#untilMs.set(scope, nowMs + PAUSE_MS)
    return true
  }
}

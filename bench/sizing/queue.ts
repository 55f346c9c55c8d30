/**
 * DESIGN. Waiting time of requests for an event loop.
 *
 *   requests, at random ──┐
 *                         ├─▶ one queue, first come, first served ─▶ one thread ─▶ done
 *   events of streams ────┘
 *
 * A process serves one item at a time, so a request waits for all earlier ones: other requests, and the events of open
 * streams. Requests arrive at random (Poisson) with log-normal costs; the events of many streams together are as random
 * as that (Palm and Khinchine), and cost the same each.
 *
 * Limits: a request is served in one piece when it arrives, although half of its work is done when its reply ends; the
 * provider's own time is not part of it. The same seed gives the same figures on every machine.
 */

/** Load of one process. */
export interface Load {
  readonly requestsPerSecond: number
  /** CPU of the loop in microseconds, on average. */
  readonly requestMicroseconds: number
  readonly eventMicroseconds: number
  readonly eventsPerRequest: number
}

/** Milliseconds from a request's arrival until the loop has served it. */
export interface Waits {
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Requests per simulation: the 99th percentile is accurate to some per cent. */
const REQUESTS = 4000
const MOST_ARRIVALS = 400_000
/**
 * Standard deviation of the logarithm of a request's cost: one in twenty costs three times the mean, or a sixth of it.
 */
const SPREAD = 0.8
/** Waits of an overloaded process. */
const NEVER: Waits = { p50Ms: Number.POSITIVE_INFINITY, p99Ms: Number.POSITIVE_INFINITY }

/** Simulates `load` until the figures are steady. `NEVER` for an overload. */
export function simulateWaits(load: Load, seed = 1): Waits {
  const { requestsPerSecond, requestMicroseconds, eventMicroseconds, eventsPerRequest } = load
  if (requestsPerSecond * (requestMicroseconds + eventsPerRequest * eventMicroseconds) >= 1e6) return NEVER
  const random = createRandom(seed)
  const arrivals = Math.min(MOST_ARRIVALS, REQUESTS * (1 + eventsPerRequest))
  const meanGap = 1e6 / (requestsPerSecond * (1 + eventsPerRequest))
  const waits: number[] = []
  let backlog = 0 // microseconds of work that an arrival finds
  for (let i = 0; i < arrivals; i++) {
    backlog = Math.max(0, backlog + meanGap * Math.log(1 - random()))
    const isRequest = random() * (1 + eventsPerRequest) < 1
    backlog += isRequest ? requestMicroseconds * logNormal(random) : eventMicroseconds
    if (isRequest) waits.push(backlog / 1000)
  }
  waits.sort((a, b) => a - b)
  const at = (share: number) => waits[Math.floor(share * waits.length)] ?? 0
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** Draws from a log-normal distribution of mean 1, by Box and Muller. */
function logNormal(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.exp(SPREAD * normal - SPREAD ** 2 / 2)
}

/**
 * Creates a generator of numbers from 0 to below 1, deterministic by seed: mulberry32, whose period of 2³² is ample.
 */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

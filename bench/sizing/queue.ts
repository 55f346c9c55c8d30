/**
 * DESIGN. How long requests wait for an event loop.
 *
 *   requests, at random ──┐
 *                         ├─▶ one queue, first come, first served ─▶ one thread ─▶ done
 *   events of streams ────┘
 *
 * A process does one thing at a time, so a request waits for whatever came before it: other requests, and the events of
 * the streams that are open. Requests come at random (Poisson) and cost what a log-normal draw says; the events of many
 * streams together are as random as that (Palm and Khinchine), and cost the same each.
 *
 * Limits: a request is served in one piece when it arrives, although half of its work is done when its reply ends; the
 * provider's own time is not part of it. The same seed gives the same figures on every machine.
 */

/** One process and what comes to it. */
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

/** So many that the 99th percentile is right to some per cent. */
const REQUESTS = 4000
const MOST_ARRIVALS = 400_000
/** Of the logarithm of a request's cost: one in twenty costs three times the mean, or a sixth of it. */
const SPREAD = 0.8
/** Where more comes than can be done. */
const NEVER: Waits = { p50Ms: Number.POSITIVE_INFINITY, p99Ms: Number.POSITIVE_INFINITY }

/** Lets `load` arrive until the figures are steady. `NEVER` where more comes than can be done. */
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

/** Of mean 1, by Box and Muller. */
function logNormal(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.exp(SPREAD * normal - SPREAD ** 2 / 2)
}

/** Numbers from 0 to below 1, the same for the same seed: mulberry32, whose period of 2³² is ample. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

import { type Call, type LaidOut, layOut } from './call.ts'

/**
 * DESIGN: a bound below which no policy can be.
 *
 * Each prefix of the traffic is a node with its own tokens and the moments at which it was asked for. Each time its tokens are
 * input, written for five minutes or an hour, or read, which needs a write or read within the lifetime by a request that had
 * them, too. For each node alone, dynamic programming over its moments gives the least cost; a policy cannot choose for nodes
 * alone, only for prefixes of at least the least length, with at most four marks, so the sum is a bound and often not reached.
 */

/** Prices of a token, as integers. */
export interface TokenPrices {
  readonly fresh: number
  readonly read: number
  readonly write5m: number
  readonly write1h: number
}

const LIFETIMES = [
  { price: 'write5m', ms: 5 * 60_000 },
  { price: 'write1h', ms: 60 * 60_000 },
] as const

const LONGEST_MS = 60 * 60_000

/** Cheapest way to a state: until when the tokens live, and from when they can be read. */
interface State {
  readonly cost: number
  readonly readableAtMs: number
  readonly expiresAtMs: number
}

const NOTHING: State = { cost: 0, readableAtMs: 0, expiresAtMs: -1 }

/** Returns the bound of the input cost of these calls, in the unit of the prices. */
export function leastCost(calls: readonly Call[], prices: TokenPrices, replyMs: number): number {
  const nodes = new Map<string | number, { tokens: number; times: number[] }>()
  for (const call of calls) collect(nodes, layOut(call), call.atMs)
  let cost = 0
  for (const { tokens, times } of nodes.values()) cost += tokens * leastOf(times, prices, replyMs)
  return cost
}

function collect(
  nodes: Map<string | number, { tokens: number; times: number[] }>,
  { blocks }: LaidOut,
  atMs: number,
): void {
  for (const { prefix, tokens } of blocks) {
    const node = nodes.get(prefix)
    if (node === undefined) nodes.set(prefix, { tokens, times: [atMs] })
    else node.times.push(atMs)
  }
}

/** Returns the least cost of one token that is asked for at these moments, in ascending order. */
function leastOf(times: readonly number[], prices: TokenPrices, replyMs: number): number {
  let states: State[] = [NOTHING]
  for (const atMs of times) {
    const next: State[] = []
    for (const before of states) {
      const state = before.expiresAtMs < atMs ? { ...NOTHING, cost: before.cost } : before
      const { cost, readableAtMs, expiresAtMs } = state
      next.push({ ...state, cost: cost + prices.fresh })
      if (atMs >= readableAtMs && atMs <= expiresAtMs)
        next.push({ ...state, cost: cost + prices.read, expiresAtMs: atMs + LONGEST_MS })
      for (const { price, ms } of LIFETIMES)
        next.push({ cost: cost + prices[price], readableAtMs: atMs + replyMs, expiresAtMs: atMs + ms })
    }
    states = undominated(next)
  }
  return Math.min(...states.map(({ cost }) => cost))
}

/** Keeps the states that no other is as good as in every way. */
function undominated(states: readonly State[]): State[] {
  const kept: State[] = []
  for (const state of states.toSorted((a, b) => a.cost - b.cost)) {
    const isDominated = kept.some(
      (better) => better.expiresAtMs >= state.expiresAtMs && better.readableAtMs <= state.readableAtMs,
    )
    if (!isDominated) kept.push(state)
  }
  return kept
}

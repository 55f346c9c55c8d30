/** Lifetime of a mark for the provider's prompt cache. */
export type Lifetime = '5m' | '1h'

/** Prices of input tokens relative to uncached input: of a read, and of writes by their lifetime. */
export interface InputPrices {
  readonly read: number
  readonly write: Readonly<Record<Lifetime, number>>
}

/** Chances that a prefix is asked for again: within five minutes, and within an hour. */
export interface Odds {
  readonly soon: number
  readonly later: number
}

/** Prefix of a conversation that a mark at its end would write. */
export interface Tail {
  readonly odds: Odds
  /** Tokens that no live entry of the cache has. */
  readonly newTokens: number
  /** Tokens that no live entry of an hour has. */
  readonly notForAnHourTokens: number
}

/** Expected cost of a choice; `undefined` is no mark. */
type Choice = readonly [lifetime: Lifetime | undefined, cost: number]

/**
 * Returns the lifetime that is cheapest for a prefix whose arrivals go on as they have been; `undefined` where no mark is.
 * Each arrival costs a read when the one before was within the lifetime, otherwise a write.
 */
export function lifetimeOfShared({ soon, later }: Odds, { read, write }: InputPrices): Lifetime | undefined {
  return cheapest([
    [undefined, 1],
    ['5m', soon * read + (1 - soon) * write['5m']],
    ['1h', later * read + (1 - later) * write['1h']],
  ])
}

/**
 * Returns the lifetime that is cheapest for the end of a conversation. What a mark writes now need not be written by the
 * next turn; an entry of an hour also spares it the prefix that a pause of more than five minutes would lose.
 */
export function lifetimeOfTail(tail: Tail, { read, write }: InputPrices): Lifetime | undefined {
  const { newTokens, notForAnHourTokens } = tail
  const { soon, later } = tail.odds
  const spared = write['5m'] - read
  return cheapest([
    [undefined, 0],
    ['5m', newTokens * (write['5m'] - 1 - soon * spared)],
    ['1h', newTokens * (write['1h'] - 1 - soon * spared) - notForAnHourTokens * Math.max(0, later - soon) * spared],
  ])
}

function cheapest([first, ...others]: readonly [Choice, ...Choice[]]): Lifetime | undefined {
  return others.reduce((best, choice) => (choice[1] < best[1] ? choice : best), first)[0]
}

/** Returns true where the model's prices make a read cheaper than input: otherwise no mark can pay. */
export function canPay({ read }: InputPrices): boolean {
  return read < 1
}

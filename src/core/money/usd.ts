/** Nano-USD in a dollar. */
const NANO_PER_USD = 1e9

/** Converts nano-USD to dollars, for messages and bodies; sums are computed in nano-USD. */
export function toUsd(nanoUsd: number): number {
  return nanoUsd / NANO_PER_USD
}

/** Converts dollars to whole nano-USD, rounded down: a limit is never higher than configured. */
export function toNanoUsd(usd: number): number {
  // The product of a decimal may fall short of a whole number by a binary fraction.
  return Math.floor(usd * NANO_PER_USD + 1e-3)
}

/** Formats nano-USD for sentences: in dollars and cents, below a dollar with four fraction digits. */
export function shortUsd(nanoUsd: number): string {
  const amount = toUsd(nanoUsd)
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}

/** Formats nano-USD as an exact decimal of USD with nine fraction digits. */
export function decimalUsd(nanoUsd: number): string {
  const amount = Math.abs(nanoUsd)
  const sign = nanoUsd < 0 ? '-' : ''
  return `${sign}${Math.floor(amount / NANO_PER_USD)}.${String(amount % NANO_PER_USD).padStart(9, '0')}`
}

/** Parses what `decimalUsd` returns. */
export function nanoUsdOfDecimal(usd: string): number {
  return Number(usd.replace('.', ''))
}

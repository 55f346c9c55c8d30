/** Upper bounds of the buckets of gateway times, in milliseconds; one more bucket has all times above. */
export const GATEWAY_BOUNDS_MS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const

/** Returns the bucket of a time: an index into counts, of which there is one more than bounds. */
export function gatewayClassOf(ms: number): number {
  const index = GATEWAY_BOUNDS_MS.findIndex((boundMs) => ms <= boundMs)
  return index < 0 ? GATEWAY_BOUNDS_MS.length : index
}

/**
 * Returns the quantile of a share (0 to 1) of the counted requests, in milliseconds, taking the times of a bucket as
 * evenly spread; above the last bound, that bound. `undefined` when nothing was counted.
 */
export function quantileOf(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const wanted = share * total
  let below = 0
  for (const [index, boundMs] of GATEWAY_BOUNDS_MS.entries()) {
    const count = counts[index] ?? 0
    if (count > 0 && below + count >= wanted) {
      const lowerMs = GATEWAY_BOUNDS_MS[index - 1] ?? 0
      return lowerMs + (boundMs - lowerMs) * Math.max(0, (wanted - below) / count)
    }
    below += count
  }
  return GATEWAY_BOUNDS_MS.at(-1)
}

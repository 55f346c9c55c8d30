/** Returns the value below which `share` (0 to 1) of `values` lie, by nearest rank; NaN for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

/** Returns the median of `values`, the mean of the two middle ones for an even count; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

/** Milliseconds of a clock that all threads share and nobody sets. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

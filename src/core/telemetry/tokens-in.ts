import type { TokensByClass } from './telemetry.ts'

/** Adds all input tokens: uncached ones, those read from the provider's cache, and those written into it. */
export function tokensIn({ input, cacheRead, cacheWrite }: TokensByClass): number {
  return input + cacheRead + cacheWrite
}

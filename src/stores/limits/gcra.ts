import type { RateDecision } from '../../core/ports/rate-limit.ts'

/**
 * DESIGN — the generic cell rate algorithm
 *
 * One number per key: the time at which all admitted requests will be used up (the theoretical arrival time). Each
 * request moves it one interval forward; it may be at most a window ahead of now. So a window's worth may come at once, then
 * one each interval, and no edge between windows lets two windows' worth through.
 *
 *     now            now + window
 *      ├──────────────────┤          limit 4: intervals of a quarter window
 *      ▓▓▓▓ ▓▓▓▓ ░░░░ ░░░░           two used, two remaining
 *
 * Source: ITU-T I.371, annex A.
 */
export interface RateRule {
  /** Requests per window; also the burst. */
  readonly limit: number
  readonly windowMs: number
}

/** Decides on a request at `nowMs`, given the key's arrival time; returns the new one, unchanged after a refusal. */
export function decide(
  { limit, windowMs }: RateRule,
  arrivalMs: number | undefined,
  nowMs: number,
): RateDecision & { arrivalMs: number } {
  const intervalMs = windowMs / limit
  const usedUntilMs = Math.max(arrivalMs ?? nowMs, nowMs)
  const isAllowed = usedUntilMs + intervalMs - nowMs <= windowMs + TOLERANCE_MS
  const aheadMs = usedUntilMs - nowMs + (isAllowed ? intervalMs : 0)
  return { ...describe({ limit, windowMs }, { isAllowed, aheadMs }), arrivalMs: nowMs + aheadMs }
}

/** Tolerance for sums of intervals, which are not exact. */
const TOLERANCE_MS = 1e-6

/** Describes a decision by how far the arrival time is ahead of now after it. */
export function describe(
  { limit, windowMs }: RateRule,
  { isAllowed, aheadMs }: { isAllowed: boolean; aheadMs: number },
): RateDecision {
  const intervalMs = windowMs / limit
  return {
    isAllowed,
    limit,
    remaining: Math.max(0, Math.floor((windowMs - aheadMs) / intervalMs + TOLERANCE_MS)),
    resetMs: aheadMs,
    retryMs: Math.max(0, aheadMs + intervalMs - windowMs),
    windowMs,
  }
}

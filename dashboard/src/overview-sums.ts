import type { UsageSums } from '../../src/core/telemetry/telemetry.ts'

/** Sums without their labels. */
export type Sums = Omit<UsageSums, 'fromMs' | 'provider' | 'model'>

const AMOUNTS = [
  'requests',
  'errors',
  'unfinished',
  'cacheHits',
  'cacheAttached',
  'cacheMisses',
  'costNanoUsd',
  'ceilingNanoUsd',
  'unpriced',
  'savedNanoUsd',
  'savedEstimateNanoUsd',
  'savedMoreNanoUsd',
  'gatewayMs',
  'providerMs',
  'asked',
] as const

/** Adds sums of steps and models. */
export function addUp(all: readonly Sums[]): Sums {
  const of = (value: (sums: Sums) => number) => all.reduce((sum, sums) => sum + value(sums), 0)
  const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, of((sums) => sums[name])]))
  const classes = Math.max(0, ...all.map(({ gatewayTimes }) => gatewayTimes.length))
  return {
    // Safe: these are all the amounts.
    ...(amounts as Record<(typeof AMOUNTS)[number], number>),
    tokens: {
      input: of(({ tokens }) => tokens.input),
      output: of(({ tokens }) => tokens.output),
      cacheRead: of(({ tokens }) => tokens.cacheRead),
      cacheWrite: of(({ tokens }) => tokens.cacheWrite),
    },
    gatewayTimes: Array.from({ length: classes }, (_, index) => of(({ gatewayTimes }) => gatewayTimes[index] ?? 0)),
  }
}

/** Returns the sums of each step of a range, including empty steps. */
export function stepsOf(steps: readonly number[], sums: readonly UsageSums[]): { fromMs: number; sums: Sums }[] {
  const byStep = Map.groupBy(sums, (own) => own.fromMs)
  return steps.map((fromMs) => ({ fromMs, sums: addUp(byStep.get(fromMs) ?? []) }))
}

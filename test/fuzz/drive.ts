import { performance } from 'node:perf_hooks'
import fc from 'fast-check'
import { casesOf } from './cases.ts'
import { corpusCases, readCorpus } from './corpus.ts'
import type { FuzzCase, Fuzzer } from './fuzzer.ts'
import { shrink } from './shrink.ts'

/** Result of a run. */
export interface FuzzReport {
  cases: number
  /** How often each outcome was seen. */
  readonly outcomes: Map<string, number>
  /** CPU of the slowest case, in milliseconds, and its input. */
  slowestMs: number
  slowest: FuzzCase | undefined
  elapsedMs: number
  /** The first case that broke a promise, made as small as it could be. */
  failure: { readonly input: FuzzCase; readonly error: unknown } | undefined
}

/** How long a run lasts: so many cases beside the corpus, or so many milliseconds, whichever comes first. */
export interface FuzzLimits {
  readonly cases: number
  readonly elapsedMs?: number
  readonly seed: number
}

/** After so many cases the clock is looked at, and the generator begins anew with its next seed. */
const BATCH = 5000

/** Runs the corpus, then new cases, until one breaks a promise. The same seed gives the same cases. */
export async function drive(fuzzer: Fuzzer, { cases, elapsedMs = Infinity, seed }: FuzzLimits): Promise<FuzzReport> {
  const report: FuzzReport = {
    cases: 0,
    outcomes: new Map(),
    slowestMs: 0,
    slowest: undefined,
    elapsedMs: 0,
    failure: undefined,
  }
  const startedAtMs = performance.now()
  for (const input of corpusCases(fuzzer.name)) {
    await judge(fuzzer, input, report).catch((error: unknown) => {
      report.failure ??= { input, error }
    })
  }
  const kept = readCorpus(fuzzer.name)
  const end = report.cases + cases
  for (let batch = 0; report.cases < end && report.failure === undefined; batch++) {
    const numRuns = Math.min(BATCH, end - report.cases)
    report.failure = await runBatch(fuzzer, kept, { numRuns, seed: seed + batch, report })
    report.elapsedMs = performance.now() - startedAtMs
    if (report.elapsedMs > elapsedMs) break
  }
  return report
}

async function runBatch(
  fuzzer: Fuzzer,
  kept: readonly string[],
  { numRuns, seed, report }: { numRuns: number; seed: number; report: FuzzReport },
): Promise<FuzzReport['failure']> {
  const property = fc.asyncProperty(casesOf(fuzzer, kept, seed), (input) => judge(fuzzer, input, report))
  const { counterexample } = await fc.check(property, { numRuns, seed, endOnFailure: true })
  return counterexample === null ? undefined : shrink(fuzzer, counterexample[0])
}

async function judge(fuzzer: Fuzzer, input: FuzzCase, report: FuzzReport): Promise<void> {
  const { outcome, cpuMs } = await measure(fuzzer, input)
  if (cpuMs > report.slowestMs) {
    // Again: all garbage of a batch may have been collected in it.
    const slowestMs = Math.min(cpuMs, (await measure(fuzzer, input)).cpuMs)
    if (slowestMs > report.slowestMs) Object.assign(report, { slowestMs, slowest: input })
  }
  report.cases++
  report.outcomes.set(outcome, (report.outcomes.get(outcome) ?? 0) + 1)
}

async function measure(fuzzer: Fuzzer, input: FuzzCase): Promise<{ outcome: string; cpuMs: number }> {
  const before = process.threadCpuUsage()
  const outcome = await fuzzer.run(input)
  const { user, system } = process.threadCpuUsage(before)
  return { outcome, cpuMs: (user + system) / 1000 }
}

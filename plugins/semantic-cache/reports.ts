import cluster from 'node:cluster'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Log } from 'turnpike/plugin'
import type { BoundState, Report, ShadowReport, Verdicts } from './report.ts'

const MOST_REPORTS = 1000
/** A report is as old as this at most. */
const WRITE_AFTER_MS = 5000

type Told = 'right' | 'wrong' | 'undecided'

/** What one process counts of pools, and writes to a file for `turnpike` to read. */
export class Reports {
  readonly #file: string
  readonly #log: Log
  readonly #shadows = new Map<string, ShadowReport>()
  readonly #bounds = new Map<string, BoundState>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(folder: string, log: Log) {
    this.#file = path.join(folder, 'reports', `${cluster.worker?.id ?? 0}.json`)
    this.#log = log
  }

  get all(): Report {
    return { shadows: [...this.#shadows.values()], bounds: [...this.#bounds.values()] }
  }

  /** A request was looked up in shadow. */
  shadowed(key: { pool: string; mode: string }, wouldServe: boolean): void {
    const before = this.#shadowOf(key)
    const served = before.wouldServe + (wouldServe ? 1 : 0)
    this.#keep(this.#shadows, keyOf(key), { ...before, requests: before.requests + 1, wouldServe: served })
  }

  /** What would have been given was compared with the fresh answer. */
  compared(key: { pool: string; mode: string }, told: Told): ShadowReport {
    const after = counted(this.#shadowOf(key), told)
    this.#keep(this.#shadows, keyOf(key), after)
    return after
  }

  /** Where a bound stands after a request or a verdict. */
  bound(state: Omit<BoundState, keyof Verdicts | 'served'>, event: Told | 'served' | 'none'): BoundState {
    const key = `${state.pool} ${state.delta}`
    const { right = 0, wrong = 0, undecided = 0, served = 0 } = this.#bounds.get(key) ?? {}
    const before = { ...state, right, wrong, undecided, served: served + (event === 'served' ? 1 : 0) }
    const after = event === 'served' || event === 'none' ? before : counted(before, event)
    this.#keep(this.#bounds, key, after)
    return after
  }

  /** Writes what has not been written. */
  async close(): Promise<void> {
    if (this.#timer !== undefined) this.#write()
    await this.#writing
  }

  #shadowOf({ pool, mode }: { pool: string; mode: string }): ShadowReport {
    const none = { pool, mode, requests: 0, wouldServe: 0, right: 0, wrong: 0, undecided: 0 }
    return this.#shadows.get(keyOf({ pool, mode })) ?? none
  }

  #keep<T>(reports: Map<string, T>, key: string, report: T): void {
    reports.set(key, report)
    const [oldest] = reports.keys()
    if (reports.size > MOST_REPORTS && oldest !== undefined) reports.delete(oldest)
    this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = JSON.stringify(this.all)
    const [folder, unfinished] = [path.dirname(this.#file), `${this.#file}.new`]
    this.#writing = this.#writing
      .then(() => mkdir(folder, { recursive: true }))
      .then(() => writeFile(unfinished, text))
      .then(() => rename(unfinished, this.#file))
      .catch((error: unknown) => this.#log.warn({ err: error }, 'report.lost'))
  }
}

function keyOf({ pool, mode }: { pool: string; mode: string }): string {
  return `${pool} ${mode}`
}

function counted<T extends Verdicts>(report: T, told: Told): T {
  return { ...report, [told]: report[told] + 1 }
}

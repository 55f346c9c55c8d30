import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import path from 'node:path'
import type { Exchange, Log, SharingScope } from 'turnpike/plugin'
import { GUARD_VERSION } from '../guard/guard.ts'
import type { BoundState, Verdicts } from '../report.ts'
import { type JudgedPair, newestOf } from './calibrate.ts'
import { BoundPool } from './pool.ts'

/** Pools in memory; the one that was used longest ago goes, its evidence stays in its file. */
const MOST_POOLS = 1000

/** What a pool is for. */
export interface PoolKey {
  readonly id: string
  readonly delta: number
}

/**
 * The pool whose evidence counts for a request: one for each tenant (as far as answers are shared), dialect, embedder
 * and version of the guard, whose change makes old scores meaningless.
 */
export function poolIdOf({ caller, dialect }: Exchange, scope: SharingScope, embedderId: string): string {
  const user = scope === 'user' && caller.userId !== undefined ? `user:${caller.userId}` : `key:${caller.scope}`
  const tenant = scope === 'shared' ? 'shared' : user
  return hash('sha256', [tenant, dialect.name, embedderId, GUARD_VERSION].join('\n'), 'base64url').slice(0, 22)
}

/** What pools are made from. */
export interface PoolsOptions {
  /** Where evidence is kept over restarts. */
  readonly folder: string
  readonly auditShare: number
  readonly random: () => number
  readonly log: Log
}

/**
 * DESIGN — evidence over restarts
 *
 * A file for each pool and delta, a line for each judged pair: `[score, 1 if wrong]`. Lines are appended, by all
 * processes that share the folder; each reads the file once, when it first meets the pool. Between machines nothing is
 * shared: each proves its own bound on its own traffic, and if each keeps it, all together do. What cannot be read or
 * written is evidence lost, never evidence made up: a bound without a past is closed.
 */
export class BoundPools {
  readonly #options: PoolsOptions
  readonly #pools = new Map<string, BoundPool>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: PoolsOptions) {
    this.#options = options
  }

  get(key: PoolKey): BoundPool {
    const name = nameOf(key)
    const known = this.#pools.get(name)
    const pool = known ?? new BoundPool({ ...this.#options, delta: key.delta }, this.#read(key))
    this.#pools.delete(name)
    this.#pools.set(name, pool)
    const [oldest] = this.#pools.keys()
    if (this.#pools.size > MOST_POOLS && oldest !== undefined) this.#pools.delete(oldest)
    return pool
  }

  /** Where a bound stands, but for what has been counted of it. */
  stateOf(key: PoolKey): Omit<BoundState, keyof Verdicts | 'served'> {
    const { standing, calibration, pairs, needed } = this.get(key)
    return {
      pool: key.id,
      delta: key.delta,
      standing,
      leastScore: calibration?.leastScore,
      judged: pairs.length,
      needed,
      upperBound: calibration?.upperBound,
    }
  }

  /** Learns how a candidate was judged, and keeps it. */
  add(key: PoolKey, pair: JudgedPair): void {
    this.get(key).add(pair)
    this.#writing = this.#writing
      .then(() => appendFile(this.#fileOf(nameOf(key)), `${lineOf(pair)}\n`))
      .catch(this.#tell)
  }

  /** Resolves when all evidence has been written. */
  async close(): Promise<void> {
    await this.#writing
  }

  #read(key: PoolKey): JudgedPair[] {
    try {
      mkdirSync(this.#folder, { recursive: true })
      const pairs = readFileSync(this.#fileOf(nameOf(key)), 'utf8')
        .split('\n')
        .flatMap(pairOfLine)
      if (pairs.length > BoundPool.mostPairs) this.#shorten(key, newestOf(pairs, key.delta))
      return pairs
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#tell(error)
      return []
    }
  }

  #shorten(key: PoolKey, pairs: readonly JudgedPair[]): void {
    const file = this.#fileOf(nameOf(key))
    writeFileSync(`${file}.new`, `${pairs.map(lineOf).join('\n')}\n`)
    renameSync(`${file}.new`, file)
  }

  get #folder(): string {
    return path.join(this.#options.folder, 'evidence')
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, `${name}.jsonl`)
  }

  #tell = (error: unknown): void => {
    this.#options.log.warn({ err: error }, 'evidence.lost')
  }
}

function nameOf({ id, delta }: PoolKey): string {
  return `${id}-${delta}`
}

function lineOf({ score, isWrong }: JudgedPair): string {
  return JSON.stringify([Number(score.toFixed(4)), isWrong ? 1 : 0])
}

/** A line that a crash cut is left out. */
function pairOfLine(line: string): JudgedPair[] {
  try {
    const [score, wrong] = JSON.parse(line)
    const isPair = [score, wrong].every((value) => typeof value === 'number' && Number.isFinite(value))
    return isPair ? [{ score, isWrong: wrong !== 0 }] : []
  } catch {
    return []
  }
}

import type { Clock, Log } from 'turnpike/plugin'
import type { Connections } from './connection.ts'
import { FACTS, REPLIES } from './tables.ts'

const EVERY_MS = 60_000
const AT_ONCE = 5000
const MOST_ROUNDS = 20
/** So much more goes than must, or the next row would be one too many again. */
const SPARE = 0.05

/** What bounds the tables. */
export interface UpkeepOptions {
  readonly maxBytes: number
  readonly clock: Clock
  readonly log: Log
}

/**
 * Deletes what has expired and, over `maxBytes`, what was written longest ago, replies and facts alike: a minute apart,
 * behind what is written. Instances do not agree on who does it; what one is about to delete, others pass over.
 */
export class Upkeep {
  readonly #connections: Connections
  readonly #options: UpkeepOptions
  #nextAtMs = 0

  constructor(connections: Connections, options: UpkeepOptions) {
    this.#connections = connections
    this.#options = options
  }

  /** Starts it when it is time; whoever writes does not wait for it. */
  seeTo(): void {
    const nowMs = this.#options.clock.nowMs()
    if (nowMs < this.#nextAtMs) return
    this.#nextAtMs = nowMs + EVERY_MS
    this.#run(nowMs).catch((error: unknown) => this.#options.log.debug({ err: error }, 'entries.unreachable'))
  }

  async #run(nowMs: number): Promise<void> {
    for (const table of [FACTS, REPLIES]) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        if ((await this.#delete(table, 'where expires <= $2', [AT_ONCE, nowMs])) < AT_ONCE) break
      }
    }
    const { maxBytes } = this.#options
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const tables = await Promise.all([FACTS, REPLIES].map((table) => this.#measure(table)))
      const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
      if (bytes <= maxBytes) return
      const share = Math.min(1, 1 - maxBytes / bytes + SPARE)
      for (const { table, rows } of tables) {
        await this.#delete(table, 'order by revision', [Math.min(AT_ONCE, Math.ceil(rows * share))])
      }
    }
  }

  async #measure(table: string): Promise<{ table: string; rows: number; bytes: number }> {
    const [found] = await this.#connections.ask(`select count(*) as rows, sum(bytes) as bytes from ${table}`)
    return { table, rows: Number(found?.rows ?? 0), bytes: Number(found?.bytes ?? 0) }
  }

  /** Deletes at most as many rows as `values` begin with; how many it were. */
  async #delete(table: string, which: string, values: readonly number[]): Promise<number> {
    const rows = `array(select ctid from ${table} ${which} limit $1 for update skip locked)`
    const sql = `with gone as (delete from ${table} where ctid = any(${rows}) returning 1) select count(*) as rows from gone`
    const [found] = await this.#connections.ask(sql, values)
    return Number(found?.rows ?? 0)
  }
}

import { LRUCache } from 'lru-cache'
import { GatewayError, messageOf } from '../../../core/errors.ts'
import { type Interval, startInterval } from '../../../core/interval.ts'
import type { ChargeOf } from '../../../core/money/quota-charge.ts'
import { roomIn } from '../../../core/money/room-in.ts'
import type { Log } from '../../../core/ports/log.ts'
import type {
  Reservation,
  SpendHold,
  SpendLedger,
  SpendSums,
  SpendWindow,
  WindowStanding,
} from '../../../core/ports/spend-ledger.ts'
import { entryLimit } from '../../../core/system/entry-limit.ts'
import { TransientMap } from '../../../core/transient-map.ts'
import type { FlushOutcome, SpendFlush } from './flush.ts'
import { PoolsByWindow } from './pools-by-window.ts'
import { ReservationPool } from './reservation-pool.ts'

/**
 * DESIGN — reservation pools
 *
 *   far from every cap:  request ──allocate──► pool (memory) ──four times a second──► flush: one transaction for all
 *   otherwise:           request ────────────────────────────────────────────────► reserve: one transaction each
 *
 * A pool is money reserved in advance for many requests of one caller. It is an ordinary hold of the database, made within
 * the caps by the deciding statement, so allocations never exceed a cap; and it is at most a thousandth of the rest of each
 * of its windows, so no other process runs short. Pools of several callers may share a window, as that of their team: before
 * one of them is refused by it, all of this process return their rests. Where a thousand such requests would not fit any more there is no pool, and each request reserves
 * alone. After a crash a pool counts in full, as any hold whose lease has ended.
 */
const PERIOD_MS = 250
/** A caller is far from its caps while this many more requests would fit. */
const FAR = 1000
const MOST_POOLS = 10_000
/** Most times that a request is sent: each of its windows may refuse it until rests are returned. */
const MOST_TRIES = 4
/** Recently ended allocations, to recognise a repeated end. */
const MOST_REMEMBERED = 10_000

/** A million dollars: a larger reported cost is absurd, and must not distort the sum of the others. */
const LARGEST_COST_NANO_USD = 1e15

/** Input of `ReservationPools`. */
export interface ReservationPoolsOptions {
  readonly ledger: SpendLedger
  readonly flush: (flush: SpendFlush) => Promise<FlushOutcome>
  /** Finds a request's quota charge. Default: none. */
  readonly chargeOf?: ChargeOf | undefined
  readonly log: Log
  /** Interval of flushes; default 250 ms. */
  readonly periodMs?: number
}

/** A request's share of a pool, and its overflow: a hold of its own for money beyond the pool. */
interface Allocation {
  readonly pool: ReservationPool
  readonly windows: readonly SpendWindow[]
  allocatedNanoUsd: number
  overflowNanoUsd: number
  /** The last attempt to raise the overflow; settles with either outcome. */
  asked: Promise<unknown> | undefined
}

/** A ledger that serves callers far from their caps from pools in memory, and the others from the database. */
export class ReservationPools implements SpendLedger {
  readonly #options: ReservationPoolsOptions
  readonly #pools = new Map<string, ReservationPool>()
  readonly #byWindow = new PoolsByWindow()
  readonly #allocations = new TransientMap<Allocation>()
  readonly #ended = new LRUCache<string, true>(entryLimit(MOST_REMEMBERED))
  readonly #interval: Interval

  constructor(options: ReservationPoolsOptions) {
    this.#options = options
    // A pool joins its own in-flight flush: a slow one blocks no other.
    this.#interval = startInterval(async () => void this.flushAll(), {
      everyMs: options.periodMs ?? PERIOD_MS,
      onError: (error) => this.#warn(error),
    })
  }

  async reserve(hold: SpendHold): Promise<Reservation> {
    const { holdId, amountNanoUsd, spareNanoUsd = 0, windows, leaseMs } = hold
    if (this.#allocations.get(holdId) !== undefined) return this.grow({ holdId, toNanoUsd: amountNanoUsd, leaseMs })
    const key = keyOf(windows)
    const pool = this.#pools.get(key)
    const standing = pool?.allocate(amountNanoUsd, spareNanoUsd)
    if (pool !== undefined && standing !== undefined) {
      this.#allocations.set(holdId, {
        pool,
        windows,
        allocatedNanoUsd: amountNanoUsd,
        overflowNanoUsd: 0,
        asked: undefined,
      })
      // The money is held in the database already: the quota decides. The caller settles it after an error.
      await this.#options.chargeOf?.(holdId)?.hold()
      return { ok: true, standing }
    }
    const result = await this.#withoutRests(() => this.#options.ledger.reserve(hold))
    // An existing pool has counted the request itself.
    if (pool === undefined && result.ok && isFar(result.standing, amountNanoUsd))
      this.#poolOf(key, hold)?.note(amountNanoUsd)
    return result
  }

  async grow(change: { holdId: string; toNanoUsd: number; leaseMs: number }): Promise<Reservation> {
    const allocation = this.#allocations.get(change.holdId)
    if (allocation === undefined) return this.#options.ledger.grow(change)
    const byNanoUsd = change.toNanoUsd - allocation.allocatedNanoUsd - allocation.overflowNanoUsd
    if (byNanoUsd <= 0) return { ok: true, standing: allocation.pool.standing }
    if (!allocation.pool.raise(byNanoUsd)) {
      const asked = this.#growOverflow(allocation, { ...change, byNanoUsd })
      allocation.asked = asked.catch(() => {})
      return asked
    }
    allocation.allocatedNanoUsd += byNanoUsd
    return { ok: true, standing: allocation.pool.standing }
  }

  async settle({ holdId, costNanoUsd }: { holdId: string; costNanoUsd: number }): Promise<void> {
    const allocation = this.#allocations.get(holdId)
    if (allocation === undefined) {
      if (this.#ended.has(holdId)) return
      return this.#options.ledger.settle({ holdId, costNanoUsd })
    }
    this.#allocations.delete(holdId)
    this.#ended.set(holdId, true)
    // The overflow must be known, or it would stay held.
    if (allocation.asked !== undefined) await allocation.asked
    const inAllNanoUsd = allocation.allocatedNanoUsd + allocation.overflowNanoUsd
    const isCost = Number.isSafeInteger(costNanoUsd) && costNanoUsd >= 0 && costNanoUsd <= LARGEST_COST_NANO_USD
    const chargedNanoUsd = isCost ? costNanoUsd : inAllNanoUsd
    const overflowNanoUsd = Math.min(
      allocation.overflowNanoUsd,
      Math.max(0, chargedNanoUsd - allocation.allocatedNanoUsd),
    )
    allocation.pool.spend(allocation.allocatedNanoUsd, chargedNanoUsd - overflowNanoUsd)
    if (allocation.asked !== undefined) await this.#settleOverflow(allocation, overflowOf(holdId), overflowNanoUsd)
    if (!isCost) throw new GatewayError('internal_error', `Nothing costs ${costNanoUsd} nano-dollars: charged as held.`)
  }

  async #settleOverflow({ overflowNanoUsd }: Allocation, holdId: string, costNanoUsd: number): Promise<void> {
    try {
      await this.#options.ledger.settle({ holdId, costNanoUsd })
    } catch (error) {
      // Without a known overflow there may be no hold to settle.
      if (overflowNanoUsd > 0 || !(error instanceof GatewayError) || error.code !== 'internal_error') throw error
    }
  }

  spent(windows: readonly Pick<SpendWindow, 'scope' | 'window'>[]): Promise<SpendSums[]> {
    return this.#options.ledger.spent(windows)
  }

  /** Flushes all pools; runs a few times a second. Never rejects: the next time makes up for it. */
  async flushAll(): Promise<void> {
    const flushes: Promise<void>[] = []
    for (const [key, pool] of this.#pools) {
      if (pool.isEmpty) this.#forget(key, pool)
      else flushes.push(pool.flush().catch((error: unknown) => this.#warn(error)))
    }
    await Promise.all(flushes)
  }

  /** Sends all spending to the database, and returns the unneeded rest. Rejects when it does not reply. */
  async flushLast(): Promise<void> {
    const flushes = await Promise.allSettled([...this.#pools.values()].map((pool) => pool.flushLast()))
    const failed = flushes.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /** Flushes at the end: money that cannot be sent counts in full when the pools' leases end. */
  async close(): Promise<void> {
    await this.#interval.close()
    await this.flushLast().catch((error: unknown) => this.#warn(error))
  }

  /** Holds the amount beyond the pool in the database. */
  #growOverflow(
    allocation: Allocation,
    { holdId, byNanoUsd, leaseMs }: { holdId: string; byNanoUsd: number; leaseMs: number },
  ): Promise<Reservation> {
    const { ledger } = this.#options
    const { windows, overflowNanoUsd } = allocation
    const toNanoUsd = overflowNanoUsd + byNanoUsd
    const overflow = overflowOf(holdId)
    return this.#withoutRests(async () => {
      const result =
        overflowNanoUsd === 0
          ? await ledger.reserve({ holdId: overflow, amountNanoUsd: toNanoUsd, windows, leaseMs })
          : await ledger.grow({ holdId: overflow, toNanoUsd, leaseMs })
      if (result.ok) allocation.overflowNanoUsd = toNanoUsd
      return result
    })
  }

  #poolOf(key: string, { windows, leaseMs }: SpendHold): ReservationPool | undefined {
    const known = this.#pools.get(key)
    if (known !== undefined || this.#pools.size >= MOST_POOLS) return known
    const pool = new ReservationPool({ windows, leaseMs, flush: this.#options.flush })
    this.#pools.set(key, pool)
    this.#byWindow.add(pool)
    return pool
  }

  #forget(key: string, pool: ReservationPool): void {
    this.#pools.delete(key)
    this.#byWindow.delete(pool)
  }

  /**
   * Sends the request; after a refusal again, as long as pools of this process return rests in the window that has refused
   * it.
   */
  async #withoutRests(ask: () => Promise<Reservation>): Promise<Reservation> {
    for (let tries = 1; ; tries++) {
      const result = await ask()
      if (result.ok || tries === MOST_TRIES || !(await this.#returnRests(result.refusedBy))) return result
    }
  }

  /** Flushes the pools with rests in a window. Resolves with false when none has returned anything. */
  async #returnRests(window: SpendWindow): Promise<boolean> {
    const flushes = this.#byWindow.withRestIn(window).map((pool) => pool.flushLast())
    return (await Promise.allSettled(flushes)).some(({ status }) => status === 'fulfilled')
  }

  #warn(error: unknown): void {
    this.#options.log.warn({ reason: messageOf(error) }, 'spend.pool-not-flushed')
  }
}

/** Keys of lists that callers use again for each request of a day. */
const keys = new WeakMap<readonly SpendWindow[], string>()

function keyOf(windows: readonly SpendWindow[]): string {
  const known = keys.get(windows)
  if (known !== undefined) return known
  const key = windows.map(({ scope, window, limitNanoUsd }) => `${scope} ${window} ${limitNanoUsd}`).join()
  keys.set(windows, key)
  return key
}

function overflowOf(holdId: string): string {
  return `${holdId}+`
}

function isFar(standing: readonly WindowStanding[], amountNanoUsd: number): boolean {
  return standing.every((window) => roomIn(window) >= FAR * amountNanoUsd)
}

import type { SpendWindow } from '../../../core/ports/spend-ledger.ts'
import type { ReservationPool } from './reservation-pool.ts'

/** Reservation pools by the windows in which they hold money: keys of a team share its window, and each has a pool. */
export class PoolsByWindow {
  readonly #pools = new Map<string, Set<ReservationPool>>()

  add(pool: ReservationPool): void {
    for (const window of pool.windows) {
      const key = keyOf(window)
      const sharing = this.#pools.get(key) ?? new Set()
      this.#pools.set(key, sharing.add(pool))
    }
  }

  delete(pool: ReservationPool): void {
    for (const window of pool.windows) {
      const key = keyOf(window)
      const sharing = this.#pools.get(key)
      sharing?.delete(pool)
      if (sharing?.size === 0) this.#pools.delete(key)
    }
  }

  /** Returns the pools that may hold money in a window which no request uses. */
  withRestIn(window: SpendWindow): ReservationPool[] {
    return [...(this.#pools.get(keyOf(window)) ?? [])].filter((pool) => pool.mayHaveRest)
  }
}

function keyOf({ scope, window }: SpendWindow): string {
  return `${window} ${scope}`
}

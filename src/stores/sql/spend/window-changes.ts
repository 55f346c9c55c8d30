import type { Kysely } from 'kysely'
import type { SpendSums, SpendWindow } from '../../../core/ports/spend-ledger.ts'
import type { Database } from '../schema.ts'
import type { SpendHoldTable } from './schema.ts'
import { changeWindow, inLockOrder } from './windows.ts'

interface Changed {
  readonly window: SpendWindow
  readonly sums: { settledNanoUsd: number; heldNanoUsd: number }
}

/** Changes of windows by many holds, summed: each window is written once. */
export class WindowChanges {
  /** By the text of a hold's windows, which the holds of a caller have in common. */
  readonly #byText = new Map<string, Changed[]>()
  readonly #byKey = new Map<string, Changed>()

  /** Adds a change of all windows of a hold. */
  add(hold: Pick<SpendHoldTable, 'windows'>, { settledNanoUsd, heldNanoUsd }: SpendSums): void {
    for (const { sums } of this.#changedOf(hold)) {
      sums.settledNanoUsd += settledNanoUsd
      sums.heldNanoUsd += heldNanoUsd
    }
  }

  /** Writes the sums, in lock order. */
  async apply(db: Kysely<Database>): Promise<void> {
    for (const { window, sums } of inLockOrder([...this.#byKey.values()], ({ window }) => window))
      await changeWindow(db, window, sums)
  }

  #changedOf(hold: Pick<SpendHoldTable, 'windows'>): Changed[] {
    const known = this.#byText.get(hold.windows)
    if (known !== undefined) return known
    const changed = windowsOf(hold).map((window) => this.#changed(window))
    this.#byText.set(hold.windows, changed)
    return changed
  }

  #changed(window: SpendWindow): Changed {
    const key = JSON.stringify([window.scope, window.window])
    const changed = this.#byKey.get(key) ?? { window, sums: { settledNanoUsd: 0, heldNanoUsd: 0 } }
    this.#byKey.set(key, changed)
    return changed
  }
}

/** Returns the windows of a hold's admission, in lock order. The cast is safe: only `reserveSpend` writes them. */
export function windowsOf({ windows }: Pick<SpendHoldTable, 'windows'>): SpendWindow[] {
  return JSON.parse(windows) as SpendWindow[]
}

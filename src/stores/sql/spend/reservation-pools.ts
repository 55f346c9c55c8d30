import { LRUCache } from 'lru-cache'
import { GatewayError, messageOf } from '../../../core/errors.ts'
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
import type { RollOutcome, SpendRoll } from './flush.ts'
import { SpendTill } from './reservation-pool.ts'

/**
 * DESIGN — tills
 *
 *   far from every cap:  request ──draw──► till (memory) ──a few times a second──► roll: one transaction for all of them
 *   otherwise:           request ─────────────────────────────────────────────────► reserve: one transaction each
 *
 * A till is a hold for many requests to come. It is an ordinary hold of the database, made within the caps by the
 * statement that decides, so what is drawn from it can never be too much; and it is so small beside what is left that
 * nobody feels it. Where a thousand requests of a kind would not fit any more there are no tills, and each decides alone.
 * After a crash a till counts in full, like any hold that was not heard of again.
 */
const PERIOD_MS = 250
/** A caller is far from its caps while so many more requests would fit. */
const FAR = 1000
const MOST_TILLS = 10_000
/** Draws that ended lately, so that one that is ended again is known. */
const MOST_REMEMBERED = 10_000

/** A million dollars: what a provider tells beyond it is nonsense, and must not spoil the sum of the others. */
const LARGEST_COST_NANO_USD = 1e15

/** What tills are laid over. */
export interface TillsOptions {
  readonly ledger: SpendLedger
  readonly roll: (roll: SpendRoll) => Promise<RollOutcome>
  readonly log: Log
  /** Between two rolls; default 250 ms. */
  readonly periodMs?: number
}

/** What a request has drawn from a till, and holds beside it where the till had no more. */
interface Draw {
  readonly till: SpendTill
  readonly windows: readonly SpendWindow[]
  drawnNanoUsd: number
  besideNanoUsd: number
  /** The last question for money beside the till, whatever came of it. */
  asked: Promise<unknown> | undefined
}

/** A ledger that keeps money for callers that are far from their caps, and asks the database for the others. */
export class SpendTills implements SpendLedger {
  readonly #options: TillsOptions
  readonly #tills = new Map<string, SpendTill>()
  readonly #draws = new Map<string, Draw>()
  readonly #ended = new LRUCache<string, true>(entryLimit(MOST_REMEMBERED))
  readonly #timer: NodeJS.Timeout

  constructor(options: TillsOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.rollAll(), options.periodMs ?? PERIOD_MS).unref()
  }

  async reserve(hold: SpendHold): Promise<Reservation> {
    const { holdId, amountNanoUsd, spareNanoUsd = 0, windows, leaseMs, fee } = hold
    if (this.#draws.has(holdId)) return this.grow({ holdId, toNanoUsd: amountNanoUsd, leaseMs })
    const key = keyOf(windows)
    const till = this.#tills.get(key)
    const standing = till?.draw(amountNanoUsd, spareNanoUsd)
    if (till !== undefined && standing !== undefined) {
      this.#draws.set(holdId, { till, windows, drawnNanoUsd: amountNanoUsd, besideNanoUsd: 0, asked: undefined })
      // The money is held in the database already: it is the fee that decides. What throws is settled by whoever asked.
      await fee?.hold()
      return { ok: true, standing }
    }
    const result = await withoutRest(till, () => this.#options.ledger.reserve(hold))
    // A till that is there has counted the request itself.
    if (till === undefined && result.ok && isFar(result.standing, amountNanoUsd))
      this.#tillOf(key, hold)?.note(amountNanoUsd)
    return result
  }

  async grow(change: { holdId: string; toNanoUsd: number; leaseMs: number }): Promise<Reservation> {
    const draw = this.#draws.get(change.holdId)
    if (draw === undefined) return this.#options.ledger.grow(change)
    const byNanoUsd = change.toNanoUsd - draw.drawnNanoUsd - draw.besideNanoUsd
    if (byNanoUsd <= 0) return { ok: true, standing: draw.till.standing }
    if (!draw.till.raise(byNanoUsd)) {
      const asked = this.#growBeside(draw, { ...change, byNanoUsd })
      draw.asked = asked.catch(() => {})
      return asked
    }
    draw.drawnNanoUsd += byNanoUsd
    return { ok: true, standing: draw.till.standing }
  }

  async settle({ holdId, costNanoUsd }: { holdId: string; costNanoUsd: number }): Promise<void> {
    const draw = this.#draws.get(holdId)
    if (draw === undefined) {
      if (this.#ended.has(holdId)) return
      return this.#options.ledger.settle({ holdId, costNanoUsd })
    }
    this.#draws.delete(holdId)
    this.#ended.set(holdId, true)
    // What is held beside must be known, or it would never end.
    if (draw.asked !== undefined) await draw.asked
    const inAllNanoUsd = draw.drawnNanoUsd + draw.besideNanoUsd
    const isCost = Number.isSafeInteger(costNanoUsd) && costNanoUsd >= 0 && costNanoUsd <= LARGEST_COST_NANO_USD
    const chargedNanoUsd = isCost ? costNanoUsd : inAllNanoUsd
    const besideNanoUsd = Math.min(draw.besideNanoUsd, Math.max(0, chargedNanoUsd - draw.drawnNanoUsd))
    draw.till.spend(draw.drawnNanoUsd, chargedNanoUsd - besideNanoUsd)
    if (draw.asked !== undefined) await this.#settleBeside(draw, besideOf(holdId), besideNanoUsd)
    if (!isCost) throw new GatewayError('internal_error', `Nothing costs ${costNanoUsd} nano-dollars: charged as held.`)
  }

  async #settleBeside({ besideNanoUsd }: Draw, holdId: string, costNanoUsd: number): Promise<void> {
    try {
      await this.#options.ledger.settle({ holdId, costNanoUsd })
    } catch (error) {
      // Where nothing is known to be held beside, there may be nothing to end.
      if (besideNanoUsd > 0 || !(error instanceof GatewayError) || error.code !== 'internal_error') throw error
    }
  }

  spent(windows: readonly Pick<SpendWindow, 'scope' | 'window'>[]): Promise<SpendSums[]> {
    return this.#options.ledger.spent(windows)
  }

  /** Accounts for the period that ends now; done a few times a second. Never rejects: the next time makes up for it. */
  async rollAll(): Promise<void> {
    const rolls: Promise<void>[] = []
    for (const [key, till] of this.#tills) {
      if (till.isEmpty) this.#tills.delete(key)
      else rolls.push(till.roll().catch((error: unknown) => this.#warn(error)))
    }
    await Promise.all(rolls)
  }

  /** Tells the database all that was spent, and gives back what is not needed. Rejects when it does not answer. */
  async flush(): Promise<void> {
    const rolls = await Promise.allSettled([...this.#tills.values()].map((till) => till.rollLast()))
    const failed = rolls.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /** As `flush`, at the end: what it cannot tell counts in full when the tills' leases end. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch((error: unknown) => this.#warn(error))
  }

  /** Holds beside the till what it has no more of. */
  #growBeside(
    draw: Draw,
    { holdId, byNanoUsd, leaseMs }: { holdId: string; byNanoUsd: number; leaseMs: number },
  ): Promise<Reservation> {
    const { ledger } = this.#options
    const { windows, besideNanoUsd } = draw
    const toNanoUsd = besideNanoUsd + byNanoUsd
    const beside = besideOf(holdId)
    return withoutRest(draw.till, async () => {
      const result =
        besideNanoUsd === 0
          ? await ledger.reserve({ holdId: beside, amountNanoUsd: toNanoUsd, windows, leaseMs })
          : await ledger.grow({ holdId: beside, toNanoUsd, leaseMs })
      if (result.ok) draw.besideNanoUsd = toNanoUsd
      return result
    })
  }

  #tillOf(key: string, { windows, leaseMs }: SpendHold): SpendTill | undefined {
    const known = this.#tills.get(key)
    if (known !== undefined || this.#tills.size >= MOST_TILLS) return known
    const till = new SpendTill({ windows, leaseMs, roll: this.#options.roll })
    this.#tills.set(key, till)
    return till
  }

  #warn(error: unknown): void {
    this.#options.log.warn({ reason: messageOf(error) }, 'spend.till-not-told')
  }
}

/** Asks the database; when it refuses, once more after the till has given back what it does not need. */
async function withoutRest(till: SpendTill | undefined, ask: () => Promise<Reservation>): Promise<Reservation> {
  const result = await ask()
  if (result.ok || till === undefined) return result
  try {
    await till.rollLast()
  } catch {
    return result
  }
  return ask()
}

function keyOf(windows: readonly SpendWindow[]): string {
  return windows.map(({ scope, window, limitNanoUsd }) => `${scope} ${window} ${limitNanoUsd}`).join()
}

function besideOf(holdId: string): string {
  return `${holdId}+`
}

function isFar(standing: readonly WindowStanding[], amountNanoUsd: number): boolean {
  return standing.every(
    ({ limitNanoUsd, settledNanoUsd, heldNanoUsd }) =>
      limitNanoUsd - settledNanoUsd - heldNanoUsd >= FAR * amountNanoUsd,
  )
}

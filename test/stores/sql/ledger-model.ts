import { deepEqual, equal, ok } from 'node:assert/strict'
import { roomIn } from '../../../src/core/money/room-in.ts'
import type { Reservation, SpendSums, SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { noOutcomes, type Outcomes } from './ledger-outcomes.ts'
import { BUDGETS, MEMBERSHIPS, type Step, WINDOWS } from './ledger-steps.ts'

/*
 * A model of a spend ledger that predicts the result of each step. A round's steps are taken at once, so
 * which of them wins is the ledger's choice; what follows from that is not.
 */

/** Commands under test. */
export interface LedgerUnderTest {
  reserve(hold: {
    holdId: string
    amountNanoUsd: number
    windows: readonly SpendWindow[]
    leaseMs: number
  }): Promise<Reservation>
  grow(change: { holdId: string; toNanoUsd: number; leaseMs: number }): Promise<Reservation>
  settle(end: { holdId: string; costNanoUsd: number }): Promise<unknown>
  sweep(): Promise<unknown>
  spent(windows: readonly SpendWindow[]): Promise<SpendSums[]>
  /** Raises a budget of a scope; false when it has no row. */
  raise(window: SpendWindow, by: number): Promise<boolean>
  /** Ends the lease of a hold whose owner has crashed. */
  endLease(holdId: string): Promise<void>
}

const LEASE_MS = 3_600_000

/** Leaves out the moment of a budget's first use, which no model foretells. */
function withoutBegin<Sums extends SpendSums>({ begunAtMs, ...sums }: Sums): Omit<Sums, 'begunAtMs'> {
  return sums
}

/** Returns the name of a window, by which windows are locked in their order. */
function nameOf({ window, scope }: SpendWindow): string {
  return `${window} ${scope}`
}

interface Hold {
  readonly id: string
  readonly windows: readonly SpendWindow[]
  readonly firstAmount: number
  amount: number
  state: 'open' | 'lease ended' | 'expired' | 'settled'
  cost: number
}

let runs = 0

/** Takes these steps on a ledger; throws when it does anything else than the model foretells. */
export async function checkLedger(ledger: LedgerUnderTest, taken: Step[][], outcomes = noOutcomes()): Promise<void> {
  const model = new Model(ledger, `run-${++runs}`, outcomes)
  for (const steps of taken) await model.round(steps)
  await model.end()
}

class Model {
  readonly #ledger: LedgerUnderTest
  readonly #name: string
  readonly #outcomes: Outcomes
  readonly #windows: readonly SpendWindow[]
  readonly #slots: (Hold | undefined)[] = []
  readonly #holds: Hold[] = []
  readonly #raised = WINDOWS.map(() => 0)
  #made = 0

  constructor(ledger: LedgerUnderTest, name: string, outcomes: Outcomes) {
    this.#ledger = ledger
    this.#name = name
    this.#outcomes = outcomes
    this.#windows = WINDOWS.map(({ owner, window, limit: limitNanoUsd }, i) => ({
      ...{ scope: `${owner}${name}`, window, limitNanoUsd },
      ...(BUDGETS.has(i) && { isBudget: true as const }),
    }))
  }

  async round(steps: readonly Step[]): Promise<void> {
    for (const step of steps) if (step.kind === 'crash') await this.#crash(this.#slots[step.slot])
    // Two steps on one hold at once would make the result a matter of luck.
    const bySlot = new Map(steps.map((step) => ['slot' in step ? step.slot : step.kind, step]))
    const atOnce = [...bySlot.values()].filter(({ kind }) => kind !== 'crash')
    const before = this.#foretold()
    const most = before.map((sums, i) => sums.settledNanoUsd + sums.heldNanoUsd + this.#added(atOnce, i))
    const check = { isAlone: atOnce.length === 1, most }
    await Promise.all(atOnce.map((step) => this.#take(step, check)))
    if (bySlot.has('sweep')) this.#swept()
    await this.#compare()
  }

  /** Checks that exactly the rest can be used when all is settled. */
  async end(): Promise<void> {
    for (const hold of this.#holds) {
      if (hold.state === 'settled') continue
      await this.#ledger.settle({ holdId: hold.id, costNanoUsd: 0 })
      hold.state = 'settled'
    }
    await this.#compare()
    for (const [i, window] of this.#windows.entries()) {
      const left = roomIn({ ...window, ...this.#foretold()[i]! })
      const reserve = (holdId: string, amountNanoUsd: number) =>
        this.#ledger.reserve({
          holdId: `${this.#name}-${holdId}-${i}`,
          amountNanoUsd,
          windows: [window],
          leaseMs: LEASE_MS,
        })
      equal((await reserve('last', left)).ok, true)
      equal((await reserve('beyond', 1)).ok, false)
      await this.#ledger.settle({ holdId: `${this.#name}-last-${i}`, costNanoUsd: 0 })
    }
  }

  #take(step: Step, check: { isAlone: boolean; most: readonly number[] }): Promise<unknown> {
    switch (step.kind) {
      case 'reserve':
        return this.#reserve(step, check)
      case 'grow':
        return this.#grow(step, check)
      case 'settle':
        return this.#settle(step)
      case 'raise':
        return this.#raise(step)
      default:
        return this.#ledger.sweep()
    }
  }

  async #reserve(
    { slot, amount, member }: Step & { kind: 'reserve' },
    check: { isAlone: boolean; most: readonly number[] },
  ): Promise<void> {
    const old = this.#slots[slot]
    if (old !== undefined && old.state !== 'settled') return this.#repeat(old)
    const windows = MEMBERSHIPS[member]!.map((i) => this.#windows[i]!)
    const hold: Hold = {
      id: `${this.#name}-h${++this.#made}`,
      windows,
      firstAmount: amount,
      amount,
      state: 'open',
      cost: 0,
    }
    const fits = this.#fits(windows, amount)
    const result = await this.#ledger.reserve({ holdId: hold.id, amountNanoUsd: amount, windows, leaseMs: LEASE_MS })
    if (check.isAlone) equal(result.ok, fits)
    if (!result.ok) {
      this.#isJust(result, amount, check.most)
      const isFirst = nameOf(result.refusedBy) === windows.map(nameOf).sort()[0]
      this.#outcomes[isFirst ? 'refusedByFirst' : 'refusedByLater']++
      return
    }
    this.#slots[slot] = hold
    this.#holds.push(hold)
    this.#outcomes.admitted++
    if (check.isAlone) this.#isToldTruly(result, windows)
  }

  /** The sums that come with an admission are those of the model, with this hold. */
  #isToldTruly({ standing }: Extract<Reservation, { ok: true }>, windows: readonly SpendWindow[]): void {
    const foretold = this.#foretold()
    const expected = windows.map((window) => ({ ...window, ...foretold[this.#windows.indexOf(window)] }))
    const byWindow = (one: SpendWindow, other: SpendWindow) => (nameOf(one) < nameOf(other) ? -1 : 1)
    deepEqual(standing.map(withoutBegin).sort(byWindow), expected.sort(byWindow))
  }

  /** The same reservation again, as after an answer that was lost. */
  async #repeat(hold: Hold): Promise<void> {
    const { id: holdId, firstAmount: amountNanoUsd, windows } = hold
    equal((await this.#ledger.reserve({ holdId, amountNanoUsd, windows, leaseMs: LEASE_MS })).ok, true)
    hold.state = 'open'
    this.#outcomes.repeated++
  }

  async #grow(
    { slot, by }: Step & { kind: 'grow' },
    check: { isAlone: boolean; most: readonly number[] },
  ): Promise<void> {
    const hold = this.#slots[slot]
    if (hold === undefined || hold.state === 'settled') return
    const fits = by === 0 || this.#fits(hold.windows, by)
    const result = await this.#ledger.grow({ holdId: hold.id, toNanoUsd: hold.amount + by, leaseMs: LEASE_MS })
    if (check.isAlone) equal(result.ok, fits)
    if (result.ok) {
      this.#outcomes[hold.state === 'expired' ? 'revived' : 'grown']++
      hold.amount += by
      hold.state = 'open'
    } else {
      this.#isJust(result, by, check.most)
      this.#outcomes.growthRefused++
    }
  }

  async #settle({ slot, share }: Step & { kind: 'settle' }): Promise<void> {
    const hold = this.#slots[slot]
    if (hold === undefined) return
    const cost = Math.floor((hold.amount * share) / 4)
    await this.#ledger.settle({ holdId: hold.id, costNanoUsd: cost })
    if (hold.state === 'settled') {
      this.#outcomes.settledTwice++
      return
    }
    this.#outcomes[hold.state === 'expired' ? 'corrected' : 'settled']++
    hold.state = 'settled'
    hold.cost = cost
  }

  async #raise({ budget, by }: Step & { kind: 'raise' }): Promise<void> {
    const isRaised = await this.#ledger.raise(this.#windows[budget]!, by)
    if (isRaised) this.#raised[budget]! += by
    this.#outcomes[isRaised ? 'raised' : 'raisedInVain']++
  }

  async #crash(hold: Hold | undefined): Promise<void> {
    if (hold?.state !== 'open') return
    await this.#ledger.endLease(hold.id)
    hold.state = 'lease ended'
    this.#outcomes.leaseEnded++
  }

  #swept(): void {
    for (const hold of this.#holds) {
      if (hold.state !== 'lease ended') continue
      hold.state = 'expired'
      this.#outcomes.expired++
    }
  }

  /** Checks a refusal: the sum of the window that it names must be too high for the amount. */
  #isJust(
    { refusedBy, spentNanoUsd, raisedNanoUsd = 0 }: Reservation & { ok: false },
    amount: number,
    most: readonly number[],
  ): void {
    const i = this.#windows.findIndex((window) => nameOf(window) === nameOf(refusedBy))
    ok(spentNanoUsd + amount > refusedBy.limitNanoUsd + raisedNanoUsd, 'refused though it fits')
    ok(spentNanoUsd <= most[i]!, 'refused by more than is there')
  }

  #fits(windows: readonly SpendWindow[], amount: number): boolean {
    const sums = this.#foretold()
    return windows.every((window) => {
      return amount <= roomIn({ ...window, ...sums[this.#windows.indexOf(window)]! })
    })
  }

  /** Returns the most that these steps can add to a window. */
  #added(steps: readonly Step[], window: number): number {
    let added = 0
    for (const step of steps) {
      if (step.kind === 'reserve' && MEMBERSHIPS[step.member]!.includes(window)) added += step.amount
      if (step.kind === 'grow') added += step.by
    }
    return added
  }

  #foretold(): SpendSums[] {
    return this.#windows.map((window, i) => {
      const inside = this.#holds.filter(({ windows }) => windows.includes(window))
      const sum = (states: readonly Hold['state'][], of: 'amount' | 'cost') =>
        inside.reduce((total, hold) => total + (states.includes(hold.state) ? hold[of] : 0), 0)
      const sums = {
        settledNanoUsd: sum(['settled'], 'cost') + sum(['expired'], 'amount'),
        heldNanoUsd: sum(['open', 'lease ended'], 'amount'),
      }
      return window.isBudget && inside.length > 0 ? { ...sums, raisedNanoUsd: this.#raised[i]! } : sums
    })
  }

  async #compare(): Promise<void> {
    const sums = await this.#ledger.spent(this.#windows)
    for (const [i, window] of this.#windows.entries()) ok(roomIn({ ...window, ...sums[i]! }) >= 0, 'beyond the limit')
    deepEqual(sums.map(withoutBegin), this.#foretold())
  }
}

import { deepEqual, ok } from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Reservation, SpendLedger, SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { unavailable } from '../../../src/stores/sql/engine/faults.ts'
import type { FlushOutcome, SpendFlush } from '../../../src/stores/sql/spend/flush.ts'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { ReservationPools } from '../../../src/stores/sql/spend/reservation-pools.ts'
import type { SqlStore } from '../../../src/stores/sql/store.ts'
import { isDrill } from '../../support/drill.ts'
import { type Engine, endLeases, engines, type Place } from './places.ts'

/** Limits of the windows: far from the cap, or soon near it; the last is that of a team of all callers. */
const LIMITS = [1_000_000, 100_000, 300_000]
/** Windows of each caller: its own, and that of its team. */
const CALLERS = [
  [0, 2],
  [2, 1],
] as const
/** Callers of each window. */
const MEMBERS = LIMITS.map((_, i) => CALLERS.filter((windows) => windows.some((window) => window === i)).length)
const LARGEST = 90
const LEASE_MS = 60_000

type Step =
  | { kind: 'reserve'; process: number; caller: number; amount: number; spare: number }
  | { kind: 'grow'; hold: number; by: number }
  | { kind: 'settle'; hold: number; share: number }
  | { kind: 'flush'; process: number; fate: 'answered' | 'lost before' | 'lost after' }
  | { kind: 'crash'; process: number }

const process = fc.nat({ max: 1 })
const usual: fc.WeightedArbitrary<Step>[] = [
  {
    weight: 40,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      process,
      caller: fc.nat({ max: CALLERS.length - 1 }),
      amount: fc.integer({ min: 0, max: LARGEST }),
      spare: fc.constantFrom(0, 0, 0, 9000),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('grow' as const), hold: fc.nat(), by: fc.integer({ min: 0, max: 9000 }) }),
  },
  {
    weight: 16,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), hold: fc.nat(), share: fc.nat({ max: 100 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('flush' as const),
      process,
      fate: fc.constantFrom('answered' as const, 'answered' as const, 'lost before' as const, 'lost after' as const),
    }),
  },
]

const crash: fc.WeightedArbitrary<Step> = {
  weight: 1,
  arbitrary: fc.record({ kind: fc.constant('crash' as const), process }),
}

interface Hold {
  readonly id: string
  readonly caller: number
  readonly process: number
  amount: number
}

type Outcomes = Record<'drawn' | 'alone' | 'refused' | 'grown' | 'settled' | 'lost' | 'crashed', number>

let runs = 0

/** Two processes on one database, and the rules for every order of their steps. */
class Model {
  readonly #store: SqlStore
  readonly #place: Place
  readonly #ledger: SpendLedger
  readonly #outcomes: Outcomes
  readonly #windows: readonly SpendWindow[]
  readonly #processes: ReservationPools[]
  readonly #holds: Hold[] = []
  readonly #costs = LIMITS.map(() => 0)
  readonly #lostInCrashes = LIMITS.map(() => 0)
  #fate: 'answered' | 'lost before' | 'lost after' = 'answered'
  readonly #inDoubt = new Set<number>()
  #made = 0

  constructor({ store, place, outcomes }: { store: SqlStore; place: Place; outcomes: Outcomes }) {
    this.#store = store
    this.#place = place
    this.#outcomes = outcomes
    const ledger = createSpendLedger({ store, log: place.log })
    this.#ledger = { ...ledger, reserve: (hold) => this.#count('alone', ledger.reserve(hold)) }
    void ledger.close(10_000) // the sweep is called for
    const run = ++runs
    this.#windows = LIMITS.map((limitNanoUsd, i) => ({ scope: `pools-${run}-${i}`, window: 'd:1', limitNanoUsd }))
    this.#processes = [this.#open(), this.#open()]
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'reserve') await this.#reserve(step)
    else if (step.kind === 'flush') await this.#flush(step)
    else if (step.kind === 'crash') await this.#crash(step.process)
    else await this.#change(step)
    await this.#isHeld()
  }

  /** Checks that all spending is exact when everything has ended, and that nothing else is taken. */
  async end(): Promise<void> {
    for (const hold of this.#holds.splice(0)) await this.#settle(hold, 50)
    for (const pools of this.#processes) await pools.close()
    const sums = await this.#ledger.spent(this.#windows)
    for (const [i, { settledNanoUsd, heldNanoUsd }] of sums.entries()) {
      deepEqual(heldNanoUsd, 0)
      ok(settledNanoUsd >= this.#costs[i]!, 'what was spent is counted')
      ok(settledNanoUsd <= this.#costs[i]! + this.#lostInCrashes[i]!, 'only what a crash took is counted besides')
    }
  }

  #open(): ReservationPools {
    // A crashed process sends and receives nothing any more.
    const flush = (flush: SpendFlush) =>
      this.#processes.includes(pools) ? this.#answer(flush) : new Promise<never>(() => {})
    const pools = new ReservationPools({ ledger: this.#ledger, flush, log: this.#place.log, periodMs: 3_600_000 })
    return pools
  }

  async #answer(flush: SpendFlush): Promise<FlushOutcome> {
    const fate = this.#fate
    if (fate !== 'answered') this.#outcomes.lost++
    if (fate === 'lost before') throw unavailable('lost before')
    const outcome = await this.#store.run('spend.flush', flush)
    if (fate === 'lost after') throw unavailable('lost after')
    return outcome
  }

  async #reserve({ process, caller, amount, spare }: Step & { kind: 'reserve' }): Promise<void> {
    const windows = CALLERS[caller]!.map((i) => this.#windows[i]!)
    const hold: Hold = { id: `${this.#windows[caller]!.scope}-${++this.#made}`, caller, process, amount }
    const alone = this.#outcomes.alone
    const result = await this.#processes[process]!.reserve({
      holdId: hold.id,
      amountNanoUsd: amount,
      spareNanoUsd: spare,
      windows,
      leaseMs: LEASE_MS,
    })
    if (!result.ok) return this.#isJust(result, amount + spare)
    if (this.#outcomes.alone === alone) this.#outcomes.drawn++
    this.#holds.push(hold)
  }

  /** Checks a refusal: without the rests of the other process's pools, the amount would not fit either. */
  #isJust({ refusedBy }: Reservation & { ok: false }, amount: number): void {
    this.#outcomes.refused++
    if (this.#inDoubt.size > 0) return
    const i = this.#windows.findIndex(({ scope }) => scope === refusedBy.scope)
    const restsNanoUsd = (MEMBERS[i]! * LIMITS[i]!) / 1000
    ok(this.#leastCounted(i) + this.#lostInCrashes[i]! + restsNanoUsd + amount > LIMITS[i]!, 'locked out')
  }

  /** Returns what must be counted in a window: its spending and its running requests. */
  #leastCounted(i: number): number {
    const running = this.#holds.filter(({ caller }) => CALLERS[caller]!.some((window) => window === i))
    return running.reduce((sum, { amount }) => sum + amount, this.#costs[i]!)
  }

  async #change(step: Step & { kind: 'grow' | 'settle' }): Promise<void> {
    const index = step.hold % Math.max(1, this.#holds.length)
    const hold = this.#holds[index]
    if (hold === undefined) return
    if (step.kind === 'settle') {
      this.#holds.splice(index, 1)
      return this.#settle(hold, step.share)
    }
    const toNanoUsd = hold.amount + step.by
    const result = await this.#processes[hold.process]!.grow({ holdId: hold.id, toNanoUsd, leaseMs: LEASE_MS })
    if (!result.ok) return this.#isJust(result, step.by)
    hold.amount = toNanoUsd
    this.#outcomes.grown++
  }

  async #settle({ id, caller, process, amount }: Hold, share: number): Promise<void> {
    const costNanoUsd = Math.floor((amount * share) / 100)
    await this.#processes[process]!.settle({ holdId: id, costNanoUsd })
    await this.#processes[process]!.settle({ holdId: id, costNanoUsd: costNanoUsd + 7 })
    for (const i of CALLERS[caller]!) this.#costs[i]! += costNanoUsd
    this.#outcomes.settled++
  }

  async #flush({ process, fate }: Step & { kind: 'flush' }): Promise<void> {
    this.#fate = fate
    await this.#processes[process]!.flushAll()
    this.#fate = 'answered'
    if (fate === 'answered') this.#inDoubt.delete(process)
    else this.#inDoubt.add(process)
  }

  /** Crashes a process: its holds count in full, which covers its unreported spending. */
  async #crash(process: number): Promise<void> {
    this.#outcomes.crashed++
    const held = await this.#ledger.spent(this.#windows)
    for (const [i, { heldNanoUsd }] of held.entries()) this.#lostInCrashes[i]! += heldNanoUsd
    const other = this.#processes[1 - process]!
    await other.flushLast().catch(() => {})
    const survivors = this.#holds.filter((hold) => hold.process !== process)
    this.#holds.splice(0, this.#holds.length, ...survivors)
    this.#processes[process] = this.#open()
    this.#inDoubt.delete(process)
    await endLeases(this.#place)
    await this.#store.run('spend.sweep', undefined)
  }

  /** Never over; all that is spent or running is counted; and, unless a flush was lost just now, little else. */
  async #isHeld(): Promise<void> {
    const sums = await this.#ledger.spent(this.#windows)
    for (const [i, { settledNanoUsd, heldNanoUsd }] of sums.entries()) {
      const countedNanoUsd = settledNanoUsd + heldNanoUsd
      ok(countedNanoUsd <= LIMITS[i]!, 'never over')
      const leastNanoUsd = this.#leastCounted(i)
      ok(countedNanoUsd >= leastNanoUsd, 'what runs is held')
      if (this.#inDoubt.size > 0) continue
      const mostNanoUsd = leastNanoUsd + this.#lostInCrashes[i]! + (2 * MEMBERS[i]! * LIMITS[i]!) / 1000
      ok(countedNanoUsd <= mostNanoUsd, 'little else is held')
    }
  }

  async #count<Result>(outcome: keyof Outcomes, result: Promise<Result>): Promise<Result> {
    this.#outcomes[outcome]++
    return result
  }
}

/** Few runs in `npm test`, so always the same: each outcome occurs in them. */
const RUNS: Pick<fc.Parameters, 'numRuns' | 'seed' | 'endOnFailure'> = isDrill
  ? { numRuns: 20, endOnFailure: true }
  : { numRuns: 3, seed: 7, endOnFailure: true }

async function checkPools(
  t: ExecutionContext,
  engine: Engine,
  steps: fc.WeightedArbitrary<Step>[],
  outcomes: Partial<Outcomes>,
): Promise<void> {
  const place = await engine.createPlace(t)
  const store = await place.open()
  const taken = fc.array(fc.oneof(...steps), { minLength: 300, maxLength: 500, size: 'max' })
  const seen = { ...NONE }
  const property = fc.asyncProperty(taken, async (steps) => {
    const model = new Model({ store, place, outcomes: seen })
    for (const each of steps) await model.take(each)
    await model.end()
  })
  const { failed, counterexample, errorInstance } = await fc.check(property, RUNS)
  if (failed) t.log({ last: JSON.stringify(counterexample?.[0].slice(-12)), error: errorInstance })
  t.false(failed)
  t.log(JSON.stringify(seen))
  for (const outcome of Object.keys(outcomes) as (keyof Outcomes)[]) t.true(seen[outcome] > 0, outcome)
}

const NONE: Outcomes = { drawn: 0, alone: 0, refused: 0, grown: 0, settled: 0, lost: 0, crashed: 0 }

for (const engine of engines) {
  engine.test(
    'reservation pools: caps hold, running requests are held, spending is counted once, and little else',
    (t) => {
      const { crashed, ...others } = NONE
      return checkPools(t, engine, usual, others)
    },
  )

  engine.test('reservation pools: a crash takes no more than was held, and frees nothing that was spent', (t) =>
    checkPools(t, engine, [...usual, crash], NONE),
  )
}

import { deepEqual, equal, ok } from 'node:assert/strict'
import { feeOf, type Plans, type Tier } from '../../../../src/core/money/plans.ts'
import type { CallReservation } from '../../../../src/core/ports/calls.ts'
import type { MemoryDatabase } from '../memory.ts'
import { openAccount } from './accounts.ts'
import { violationsIn } from './books.ts'
import { ACCOUNTS, SLOTS, type Step } from './steps.ts'

/** Commands under test, and statements that bypass them. */
export type LedgerUnderTest = Omit<MemoryDatabase, 'close'>

/** Counts of each outcome: a property that never sees one proves nothing about it. */
export type Outcomes = Record<
  | 'appended'
  | 'replayed'
  | 'entryRefused'
  | 'included'
  | 'paid'
  | 'renewed'
  | 'afterEnd'
  | 'refusedByCalls'
  | 'refusedByCredits'
  | 'posted'
  | 'voided'
  | 'late'
  | 'shortfall'
  | 'repeated'
  | 'unknown'
  | 'expired',
  number
>

/** Outcomes of which none has occurred. */
export function noOutcomes(): Outcomes {
  return {
    appended: 0,
    replayed: 0,
    entryRefused: 0,
    included: 0,
    paid: 0,
    renewed: 0,
    afterEnd: 0,
    refusedByCalls: 0,
    refusedByCredits: 0,
    posted: 0,
    voided: 0,
    late: 0,
    shortfall: 0,
    repeated: 0,
    unknown: 0,
    expired: 0,
  }
}

const LEASE_MS = 3_600_000
const LOOKS_EVERY = 4
/** Quotas are small, or no account would ever owe credits. */
const PLANS: Plans = {
  free: { includedCalls: 2, creditsPerCall: undefined },
  pro: { includedCalls: 1, creditsPerCall: 10 },
  team: { includedCalls: 2, creditsPerCall: 7 },
}
const MOST_INCLUDED = Math.max(...Object.values(PLANS).map(({ includedCalls }) => includedCalls))

interface Facts {
  readonly tier: Tier
  readonly freeCredits: number
  readonly usedCalls: number
}

let runs = 0

/** Options of a run. */
export interface CheckOptions {
  readonly outcomes?: Outcomes
  /** True if each answer is predicted, and the books are checked all the time; else only at the end. */
  readonly isCloselyWatched: boolean
}

/** Takes these steps on a ledger; throws when a rule of the books is broken, or an answer is not what follows from them. */
export async function checkCredits(
  ledger: LedgerUnderTest,
  rounds: readonly (readonly Step[])[],
  { outcomes = noOutcomes(), isCloselyWatched }: CheckOptions,
): Promise<void> {
  const model = new Model(ledger, `credits-${++runs}`, outcomes)
  await model.begin()
  for (const [index, steps] of rounds.entries()) {
    await model.round(steps, { isCloselyWatched })
    if (isCloselyWatched && index % LOOKS_EVERY === 0) await model.check()
  }
  await model.end()
}

class Model {
  readonly #ledger: LedgerUnderTest
  readonly #name: string
  readonly #outcomes: Outcomes
  #drains = 0
  /** Number of new holds by the id of each slot. */
  readonly #uses: number[] = Array.from({ length: SLOTS }, () => 0)

  constructor(ledger: LedgerUnderTest, name: string, outcomes: Outcomes) {
    this.#ledger = ledger
    this.#name = name
    this.#outcomes = outcomes
  }

  async begin(): Promise<void> {
    for (let i = 0; i < ACCOUNTS; i++) await openAccount(this.#ledger, { id: this.#account(i), tier: 'pro' })
    // Else little could be taken.
    for (let account = 0; account < ACCOUNTS; account++)
      await this.#append({ kind: 'append', account, credits: 20, idem: 99, beyond: 'clip' })
  }

  async round(steps: readonly Step[], { isCloselyWatched }: Pick<CheckOptions, 'isCloselyWatched'>): Promise<void> {
    for (const step of steps) await this.#befall(step)
    const isAlone = steps.length === 1 && isCloselyWatched
    await Promise.all(steps.map((step) => this.#take(step, { isAlone })))
  }

  /** Checks every rule of the books, and that no account has more than its plan gives. */
  async check(): Promise<void> {
    deepEqual(await this.#ledger.sql(violationsIn(`${this.#name}-%`)), [])
    // An end after its lease is outside of the plan: others may have used the call meanwhile.
    const tooMany = await this.#ledger.sql(
      `select window_id from credit_hold where call_credits = 0 and account_id like '${this.#name}-%' and (state = 'open' or (state = 'posted' and previous_state = 'open')) group by account_id, window_id having sum(case when state = 'open' then calls else used_calls end) > ${MOST_INCLUDED}`,
    )
    deepEqual(tooMany, [])
  }

  /** Checks that nothing is held when all has ended, and that exactly the rest can be used. */
  async end(): Promise<void> {
    await this.#ledger.sql(
      `update credit_hold set due_at_ms = 0 where state = 'open' and account_id like '${this.#name}-%'`,
    )
    for (let more = true; more; ) ({ isMore: more } = await this.#ledger.run('ledger.sweep', undefined))
    await this.check()
    for (let i = 0; i < ACCOUNTS; i++) await this.#useUp(this.#account(i))
    await this.check()
  }

  async #useUp(accountId: string): Promise<void> {
    const { tier, freeCredits, usedCalls } = await this.#facts(accountId)
    const { includedCalls, creditsPerCall } = PLANS[tier]
    const included = Math.max(0, includedCalls - usedCalls)
    const paid = creditsPerCall === undefined ? 0 : Math.floor(freeCredits / creditsPerCall)
    for (let i = 0; i <= included + paid; i++) {
      const holdId = `${accountId}-last-${i}`
      const { ok: isHeld } = await this.#reserve({ holdId, accountId, calls: 1 })
      equal(isHeld, i < included + paid, `call ${i} of ${included} + ${paid}`)
      if (isHeld) await this.#ledger.run('ledger.end', [{ holdId, accountId, usedCalls: 1 }])
    }
  }

  #account(index: number): string {
    return `${this.#name}-${index}`
  }

  #hold(slot: number): { holdId: string; accountId: string } {
    const accountId = this.#account(slot % ACCOUNTS)
    return { holdId: `${this.#name}-h${slot}-${this.#uses[slot]}`, accountId }
  }

  async #befall(step: Step): Promise<void> {
    if (step.kind === 'crash' || step.kind === 'late')
      await this.#ledger.sql(
        `update credit_hold set due_at_ms = 0 where state = 'open' and id = '${this.#hold(step.slot).holdId}'`,
      )
    if (step.kind === 'renew')
      await this.#ledger.sql(
        `update account set tier = '${step.tier}', period_start_ms = coalesce(period_start_ms, 0) + 1 where id = '${this.#account(step.account)}'`,
      )
  }

  async #take(step: Step, check: { isAlone: boolean }): Promise<void> {
    switch (step.kind) {
      case 'append':
        return this.#append(step)
      case 'take':
        return this.#takeCalls(step, check)
      case 'end':
        return this.#end(step)
      case 'late':
        return this.#endLate(step)
      case 'crash':
      case 'sweep':
        return this.#sweep()
      default:
    }
  }

  async #append({ account, credits, idem, beyond }: Step & { kind: 'append' }): Promise<void> {
    const entry = { accountId: this.#account(account), kind: 'grant', credits, idem: `i${idem}`, beyond }
    const outcome = await this.#ledger.run('ledger.append', entry)
    this.#outcomes[outcome === 'refused' ? 'entryRefused' : outcome]++
    if (outcome === 'refused') ok(credits < 0, 'what is given is never refused')
  }

  async #takeCalls(
    { slot, calls, isAfresh }: Step & { kind: 'take' },
    { isAlone }: { isAlone: boolean },
  ): Promise<void> {
    const before = await this.#stateOf(this.#hold(slot).holdId)
    if (isAfresh && (before === 'posted' || before === 'voided')) this.#uses[slot]!++
    const hold = this.#hold(slot)
    const facts = isAlone ? await this.#facts(hold.accountId) : undefined
    const state = await this.#stateOf(hold.holdId)
    const result = await this.#reserve({ ...hold, calls }).catch((error: unknown) => {
      // Recognised by its message: over the thread of a store it is another object.
      if (!String(error).includes(`${hold.holdId} have ended`)) throw error
      return undefined
    })
    if (result === undefined) this.#outcomes.afterEnd++
    else if (!result.ok) this.#outcomes[result.refused.reason === 'calls' ? 'refusedByCalls' : 'refusedByCredits']++
    else if (state === 'open') this.#outcomes.renewed++
    else this.#outcomes[result.callCredits === 0 ? 'included' : 'paid']++
    if (result?.ok === false && result.refused.reason === 'credits')
      ok(result.refused.freeCredits < result.refused.neededCredits, 'refused though there is enough')
    if (facts !== undefined) this.#followsFrom(facts, { calls, state, result })
  }

  /** Checks an answer, which is predictable when nothing else happens meanwhile. */
  #followsFrom(
    { tier, freeCredits, usedCalls }: Facts,
    { calls, state, result }: { calls: number; state: string | undefined; result: CallReservation | undefined },
  ): void {
    if (state !== undefined) {
      equal(result?.ok, state === 'open' ? true : undefined)
      return
    }
    const fee = feeOf(PLANS[tier], usedCalls)
    const isUniform = fee !== undefined && feeOf(PLANS[tier], usedCalls + calls - 1) === fee
    if (!isUniform) deepEqual(result?.ok === false && result.refused.reason, 'calls')
    else if (fee * calls > freeCredits) deepEqual(result?.ok === false && result.refused.reason, 'credits')
    else deepEqual(result, { ok: true, callCredits: fee })
  }

  async #end({ slot, usedCalls }: Step & { kind: 'end' }): Promise<void> {
    const hold = this.#hold(slot)
    const [row] = await this.#ledger.sql(`select calls from credit_hold where id = '${hold.holdId}'`)
    const used = Math.min(usedCalls, Number(row?.calls ?? 1))
    const [outcome] = await this.#ledger.run('ledger.end', [{ ...hold, usedCalls: used }])
    this.#outcomes[outcome ?? 'unknown']++
    if (row !== undefined) ok(outcome !== 'unknown', 'what is there is known')
    if (outcome !== 'late') return
    const [after] = await this.#ledger.sql(`select shortfall_credits from credit_hold where id = '${hold.holdId}'`)
    if (Number(after?.shortfall_credits) > 0) this.#outcomes.shortfall++
  }

  async #sweep(): Promise<void> {
    const { expired } = await this.#ledger.run('ledger.sweep', undefined)
    this.#outcomes.expired += expired
  }

  async #endLate({ slot }: Step & { kind: 'late' }): Promise<void> {
    await this.#sweep()
    const { accountId } = this.#hold(slot)
    const all = { accountId, kind: 'refund', credits: -1_000_000, idem: `all${++this.#drains}` }
    await this.#ledger.run('ledger.append', all)
    await this.#end({ kind: 'end', slot, usedCalls: 2 })
  }

  #reserve(order: { holdId: string; accountId: string; calls: number }): Promise<CallReservation> {
    return this.#ledger.run('ledger.take', { ...order, plans: PLANS, leaseMs: LEASE_MS })
  }

  async #stateOf(holdId: string): Promise<string | undefined> {
    const [row] = await this.#ledger.sql(`select state from credit_hold where id = '${holdId}'`)
    return row && String(row.state)
  }

  async #facts(accountId: string): Promise<Facts> {
    const [row] = await this.#ledger.sql(`select * from account where id = '${accountId}'`)
    const tier = row?.tier as Tier
    const { period } = await this.#ledger.run('account.balance', { accountId })
    const [calls] = await this.#ledger.sql(
      `select settled_calls + held_calls as used from call_window where account_id = '${accountId}' and window_id = '${period.windowId}'`,
    )
    const freeCredits = Number(row?.posted_credits) - Number(row?.held_credits)
    return { tier, freeCredits, usedCalls: Number(calls?.used ?? 0) }
  }
}

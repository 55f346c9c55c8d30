import type { SpendLedger } from 'turnpike/plugin/spend'
import { costOf, type Estimate, withMargin } from 'turnpike/plugin/spend'
import { type Admission, type AdmissionFacts, admit } from './admission.ts'
import type { WindowBalance } from './budget-headers.ts'
import { Hold } from './hold.ts'
import { windowRefusal } from './refusal.ts'
import type { Budget } from './windows.ts'

/** Cost of a request. */
export interface Charge {
  readonly nanoUsd: number
  /** Input and output, as billed. */
  readonly tokens: number
}

/** Charge of a request that no provider answered: it counts as no turn either. */
export const NOTHING: Charge = { nanoUsd: 0, tokens: 0 }

/** Inputs of the holds of a request. */
export interface RequestFacts {
  readonly budget: Budget
  /** Number of choices requested; default 1. */
  readonly answers?: number
  readonly atMs: number
}

/**
 * DESIGN: holds of one request
 *
 *   turns (and time) ──► money ──► tokens      each a hold of its own in the ledger, taken in this order
 *                                              a refusal of one releases those before it
 *
 * The ledger's holds have one amount for all their windows, so each unit has its own hold, under the same lease. Those of
 * turns and tokens exist only where a conversation has such a limit.
 */
export class RequestHolds {
  readonly money: Hold
  readonly #tokens: Hold | undefined
  readonly #turns: Hold | undefined
  readonly #all: readonly Hold[]
  readonly #answers: number
  readonly #atMs: number
  /** Part of the input's estimate in the hold of tokens. */
  #inputTokens = 0

  constructor(ledger: SpendLedger, id: string, { budget, answers = 1, atMs }: RequestFacts) {
    const holdOf = (unit: 'tokens' | 'turns') => {
      const windows = budget[unit] ?? []
      const of = { perRequestNanoUsd: undefined, windows }
      return windows.length === 0 ? undefined : new Hold(ledger, `${id}/${unit}`, { budget: of, atMs })
    }
    this.money = new Hold(ledger, id, { budget, atMs })
    this.#tokens = holdOf('tokens')
    this.#turns = holdOf('turns')
    this.#all = [this.money, this.#tokens, this.#turns].filter((hold) => hold !== undefined)
    this.#answers = answers
    this.#atMs = atMs
  }

  /** Balances at the time of the holds, including them. */
  get balances(): readonly WindowBalance[] {
    return this.#all.flatMap(({ balances }) => balances)
  }

  /** Returns the current balances, for a request that holds nothing. Rejects when the ledger fails. */
  async currentBalances(): Promise<readonly WindowBalance[]> {
    return (await Promise.all(this.#all.map((hold) => hold.currentBalances()))).flat()
  }

  /** Holds all that the request needs, or nothing. Throws the refusal of the first limit without room. */
  async admit(facts: AdmissionFacts): Promise<Admission> {
    try {
      await this.#takeTurn()
      return await this.#admitTokens(await admit(this.money, facts), facts)
    } catch (error) {
      // Those that the ledger does not end now, end with their lease.
      for (const hold of this.#all) hold.release().catch(() => {})
      throw error
    }
  }

  async #takeTurn(): Promise<void> {
    if (this.#turns === undefined) return
    const refused = await this.#turns.reserve(1)
    if (refused !== undefined) throw refused.refuse()
    for (const window of this.#turns.balances) {
      if (!('budget' in window) || window.budget.name !== 'time_per_conversation') continue
      const { limitNanoUsd: limitMs, raisedNanoUsd: raisedMs = 0, begunAtMs = this.#atMs } = window
      const ageMs = Math.max(0, this.#atMs - begunAtMs)
      if (ageMs <= limitMs + raisedMs) continue
      const amounts = { spentNanoUsd: ageMs, raisedNanoUsd: raisedMs, estimatedNanoUsd: 0, atMs: this.#atMs }
      throw windowRefusal(window, amounts)
    }
  }

  /** Holds tokens by the rules of money, of which each costs one: the lower output limit applies. */
  async #admitTokens(admission: Admission, facts: AdmissionFacts): Promise<Admission> {
    if (this.#tokens === undefined) return admission
    const inputTokens = withMargin(facts.weigh().inputTokens)
    this.#inputTokens = inputTokens
    const estimate = { inputNanoUsd: inputTokens, outputTokenNanoUsd: this.#answers, inputTokens }
    const { maxTokens, heldTokens } = await admit(this.#tokens, {
      ...facts,
      weigh: () => estimate,
      bySize: undefined,
      maxTokens: admission.maxTokens ?? facts.maxTokens,
    })
    return {
      estimate: admission.estimate,
      maxTokens: maxTokens ?? admission.maxTokens,
      heldTokens: Math.min(admission.heldTokens, heldTokens),
    }
  }

  /** Tokens that are held; unlimited where none are. */
  get heldTokens(): number {
    return this.#tokens?.heldNanoUsd ?? Number.POSITIVE_INFINITY
  }

  /** Returns the tokens of all choices together. */
  tokensOf(outputTokens: number): number {
    return this.#answers * outputTokens
  }

  /** Tests that so much output is held. */
  covers(estimate: Estimate, outputTokens: number): boolean {
    if (costOf(estimate, outputTokens) > this.money.heldNanoUsd) return false
    return this.#tokens === undefined || this.#tokensWith(outputTokens) <= this.#tokens.heldNanoUsd
  }

  /** Raises the holds to so much output; `false` when that does not fit. Rejects when the ledger fails. */
  async grow(estimate: Estimate, outputTokens: number): Promise<boolean> {
    const nanoUsd = costOf(estimate, outputTokens)
    if (nanoUsd > this.money.heldNanoUsd && !(await this.money.grow(nanoUsd))) return false
    const tokens = this.#tokensWith(outputTokens)
    return this.#tokens === undefined || tokens <= this.#tokens.heldNanoUsd || this.#tokens.grow(tokens)
  }

  /** Settles all with the charge of the request; only the first call counts. Rejects when the ledger fails. */
  async settle(charge: Charge): Promise<void> {
    await Promise.all([
      this.#turns?.settle(charge === NOTHING ? 0 : 1),
      this.money.settle(charge.nanoUsd),
      this.#tokens?.settle(charge.tokens),
    ])
  }

  #tokensWith(outputTokens: number): number {
    return this.#inputTokens + this.tokensOf(outputTokens)
  }
}

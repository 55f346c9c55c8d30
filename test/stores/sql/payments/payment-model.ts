import { deepEqual, equal, ok } from 'node:assert/strict'
import type {
  ClaimOutcome,
  HeldPayment,
  LeftCall,
  PaymentClaim,
  PaymentMove,
  PaymentState,
} from '../../../../src/core/ports/payments.ts'
import { noOutcomes, type Outcomes } from './payment-outcomes.ts'
import { SLOTS, type Step, type Target } from './payment-steps.ts'

/*
 * A model of a store of payments that predicts the result of each step. Several instances work on the
 * same few challenges, crash, come back, and try steps that are not theirs any more.
 */

/** Commands under test. */
export interface PaymentsUnderTest {
  openWindow(windowId: string): Promise<number>
  claim(claim: PaymentClaim): Promise<ClaimOutcome>
  move(move: PaymentMove): Promise<boolean>
  renew(lease: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'> & { leaseMs: number }): Promise<boolean>
  release(payment: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'>): Promise<void>
  leave(payment: Pick<HeldPayment, 'challengeId' | 'owner' | 'fence'>): Promise<LeftCall>
  takeOverdue(taker: { owner: string; leaseMs: number }): Promise<readonly HeldPayment[]>
  /** Ends the lease of a payment whose owner has crashed. */
  endLease(challengeId: string): Promise<void>
  /** Lets the time of a payment run out that is not captured yet. */
  makeDue(challengeId: string): Promise<void>
}

const LEASE_MS = 3_600_000
const MOST_OWNERS = 8
/** The decision's own number, not the code's. */
const FREE_LEFT_CALLS = 2

/** From where a step may go to each state. */
const FROM: Readonly<Record<Target, readonly string[]>> = {
  authorized: ['claimed'],
  captured: ['claimed', 'authorized'],
  consumed: ['captured'],
  failed: ['claimed', 'authorized'],
  expired: ['claimed', 'authorized'],
}

interface Payment {
  token: string
  state: PaymentState
  fence: number
  isLeased: boolean
  isDue: boolean
  /** Number of client disconnects. */
  left: number
  reference: string | undefined
  /** Number of times it came to each state. */
  readonly came: Map<string, number>
}

let runs = 0

/** Takes these steps; throws when the store does anything else than the model foretells. */
export async function checkPayments(subject: PaymentsUnderTest, taken: readonly Step[], outcomes = noOutcomes()) {
  const model = new Model(subject, `run-${++runs}`, outcomes)
  await model.open()
  for (const step of taken) await model.take(step)
}

class Model {
  readonly #subject: PaymentsUnderTest
  readonly #name: string
  readonly #outcomes: Outcomes
  readonly #payments: (Payment | undefined)[] = Array.from({ length: SLOTS }, () => undefined)
  /** Holders of each slot's payment, the latest first, each with the state it assumes. */
  readonly #holders: HeldPayment[][] = Array.from({ length: SLOTS }, () => [])
  #owners = 0
  #nowMs = 0

  constructor(subject: PaymentsUnderTest, name: string, outcomes: Outcomes) {
    this.#subject = subject
    this.#name = name
    this.#outcomes = outcomes
  }

  async open(): Promise<void> {
    this.#nowMs = await this.#subject.openWindow(this.#window)
  }

  get #window(): string {
    return `${this.#name}-window`
  }

  take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'claim':
        return this.#claim(step)
      case 'move':
        return this.#move(step)
      case 'renew':
        return this.#renew(step)
      case 'release':
        return this.#release(step)
      case 'leave':
        return this.#leave(step)
      case 'crash':
        return this.#crash(step)
      case 'due':
        return this.#makeDue(step)
      case 'reap':
        return this.#reap()
    }
  }

  async #claim({ slot, token, window, atOnce }: Extract<Step, { kind: 'claim' }>): Promise<void> {
    const claims = Array.from({ length: atOnce }, () => ({
      challengeId: this.#id(slot),
      windowId: window === 'lost' ? 'nowhere' : this.#window,
      expiresAtMs: window === 'over' ? this.#nowMs : this.#nowMs + LEASE_MS,
      tokenHash: token,
      amountCents: 50,
      currency: 'usd',
      settlement: 'manual' as const,
      route: '/r',
      model: 'm',
      owner: `${this.#name}-${++this.#owners}`,
      leaseMs: LEASE_MS,
    }))
    const before = this.#payments[slot]
    const foretold = this.#foretellClaim(before, token, window)
    const results = await Promise.all(claims.map((claim) => this.#subject.claim(claim)))
    const held = results.flatMap((result) => (result.kind === 'held' ? [result.payment] : []))
    if (foretold.kind !== 'held') {
      for (const result of results) deepEqual(result, foretold.result)
      return this.#count(foretold.kind === 'busy' ? 'busy' : `refused ${foretold.why}`)
    }
    equal(held.length, 1, 'one claim is held')
    ok(results.every(({ kind }) => kind === 'held' || kind === 'busy'))
    if (atOnce > 1) this.#count('one of several claims held')
    const [payment] = held as [HeldPayment]
    equal(payment.state, foretold.payment.state)
    equal(payment.fence, foretold.payment.fence)
    equal(payment.reference, foretold.payment.reference)
    this.#count(before === undefined ? 'claimed' : `resumed ${payment.state}`)
    this.#payments[slot] = foretold.payment
    this.#holders[slot]?.unshift(payment)
  }

  #foretellClaim(payment: Payment | undefined, token: string, window: string) {
    const refused = (why: string) => ({ kind: 'refused' as const, why, result: { kind: 'refused', why } })
    if (payment === undefined) {
      if (window !== 'known') return refused(window === 'lost' ? 'unknown' : 'expired')
      const made: Payment = {
        token,
        state: 'claimed',
        fence: 1,
        isLeased: true,
        isDue: false,
        left: 0,
        reference: undefined,
        came: new Map(),
      }
      return { kind: 'held' as const, payment: made }
    }
    if (payment.token !== token) return refused('other-token')
    if (payment.state === 'consumed' || payment.state === 'failed' || payment.state === 'expired')
      return refused(payment.state)
    if (payment.left > FREE_LEFT_CALLS) {
      this.#count('refused after it was left')
      return refused('consumed')
    }
    const mayGoOn = payment.state === 'captured' || (!payment.isDue && payment.fence < MOST_OWNERS)
    if (payment.isLeased || !mayGoOn) return { kind: 'busy' as const, result: { kind: 'busy' } }
    return { kind: 'held' as const, payment: { ...payment, fence: payment.fence + 1, isLeased: true } }
  }

  async #move({ slot, who, to, atOnce }: Extract<Step, { kind: 'move' }>): Promise<void> {
    const payment = this.#payments[slot]
    const holder = this.#holders[slot]?.[who]
    if (payment === undefined || holder === undefined) return
    const [from] = FROM[to] as readonly HeldPayment['state'][]
    const believed = (FROM[to] as readonly string[]).includes(holder.state) ? holder.state : (from ?? 'claimed')
    const reference = to === 'authorized' || to === 'captured' ? `pi-${this.#id(slot)}` : undefined
    const move = {
      challengeId: this.#id(slot),
      owner: holder.owner,
      fence: holder.fence,
      from: believed,
      to,
      reference,
    }
    const results = await Promise.all(Array.from({ length: atOnce }, () => this.#subject.move(move)))
    const isOwner = payment.fence === holder.fence
    const goes = isOwner && payment.state === believed
    equal(results.filter((took) => took).length, goes ? 1 : 0, `${believed} to ${to}`)
    if (!goes) return this.#count(`move of a ${isOwner ? 'wrong state' : 'former owner'} refused`)
    if (atOnce > 1) this.#count('one of several moves took')
    payment.state = to
    payment.reference = reference ?? payment.reference
    if (to === 'consumed' || to === 'failed' || to === 'expired') payment.isLeased = false
    if (to === 'captured') payment.isDue = false
    payment.came.set(to, (payment.came.get(to) ?? 0) + 1)
    equal(payment.came.get(to), 1, `it comes to ${to} once`)
    // Safe: only these three can be gone on from.
    if (to === 'authorized' || to === 'captured') this.#holders[slot]![who] = { ...holder, state: to }
    this.#count(`to ${to}`)
  }

  async #renew({ slot, who }: { slot: number; who: number }): Promise<void> {
    const payment = this.#payments[slot]
    const holder = this.#holders[slot]?.[who]
    if (payment === undefined || holder === undefined) return
    const isOpen = payment.state === 'claimed' || payment.state === 'authorized' || payment.state === 'captured'
    const isOwner = payment.fence === holder.fence && isOpen
    equal(await this.#subject.renew({ ...holder, leaseMs: LEASE_MS }), isOwner)
    if (isOwner) payment.isLeased = true
    this.#count(isOwner ? 'renewed' : 'not renewed')
  }

  async #release({ slot, who }: { slot: number; who: number }): Promise<void> {
    const payment = this.#payments[slot]
    const holder = this.#holders[slot]?.[who]
    if (payment === undefined || holder === undefined) return
    await this.#subject.release(holder)
    if (payment.fence === holder.fence) payment.isLeased = false
  }

  async #leave({ slot, who }: { slot: number; who: number }): Promise<void> {
    const payment = this.#payments[slot]
    const holder = this.#holders[slot]?.[who]
    if (payment === undefined || holder === undefined) return
    const outcome = await this.#subject.leave(holder)
    const isOpen = payment.state === 'claimed' || payment.state === 'authorized' || payment.state === 'captured'
    if (payment.fence !== holder.fence || !isOpen) {
      equal(outcome, 'given-back')
      return this.#count('left by a former owner')
    }
    payment.left++
    const isFree = payment.left <= FREE_LEFT_CALLS
    equal(outcome, isFree ? 'given-back' : 'delivered')
    if (isFree) payment.isLeased = false
    this.#count(isFree ? 'left, given back' : 'left, delivered')
  }

  async #crash({ slot }: { slot: number }): Promise<void> {
    const payment = this.#payments[slot]
    if (payment === undefined) return
    await this.#subject.endLease(this.#id(slot))
    payment.isLeased = false
  }

  async #makeDue({ slot }: { slot: number }): Promise<void> {
    const payment = this.#payments[slot]
    if (payment === undefined || (payment.state !== 'claimed' && payment.state !== 'authorized')) return
    await this.#subject.makeDue(this.#id(slot))
    payment.isDue = true
  }

  async #reap(): Promise<void> {
    const owner = `${this.#name}-${++this.#owners}`
    const taken = await this.#subject.takeOverdue({ owner, leaseMs: LEASE_MS })
    for (let slot = 0; slot < SLOTS; slot++) {
      const payment = this.#payments[slot]
      const held = taken.find(({ challengeId }) => challengeId === this.#id(slot))
      const isTaken = payment?.isDue === true && !payment.isLeased && /claimed|authorized/.test(payment.state)
      equal(held !== undefined, isTaken, 'what is overdue is taken over')
      if (held === undefined || payment === undefined) continue
      payment.fence++
      payment.isLeased = true
      equal(held.fence, payment.fence)
      equal(held.state, payment.state)
      this.#holders[slot]?.unshift(held)
      this.#count('reaped')
    }
  }

  #id(slot: number): string {
    return `${this.#name}-${slot}`
  }

  #count(outcome: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1
  }
}

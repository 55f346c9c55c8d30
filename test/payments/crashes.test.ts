import type { ExecutionContext } from 'ava'
import { createReaper } from '../../src/commerce/agent-payments/reaper.ts'
import { isOpen, Settlement, type Submission } from '../../src/commerce/agent-payments/settlement.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { PaymentGateway, PaymentStore, SettlementMode } from '../../src/core/ports/payments.ts'
import { createPaymentStore } from '../../src/stores/sql/payments/payment-store.ts'
import { engines, type OpenPlace } from '../stores/sql/places.ts'
import { createRecordingLog } from '../support/recording-log.ts'

/*
 * A process dies at each await of a payment's way, before the step or after it and before it hears of that. Another one
 * goes on with the same credential, at once or after the reaper has been there. The books must be right each time.
 */

const HOUR_MS = 3_600_000

/** The payment provider: one payment a challenge, whatever is asked how often. */
class Books implements PaymentGateway {
  readonly #payments = new Map<string, { status: 'held' | 'captured' | 'canceled'; captures: number }>()

  async authorize({ challengeId, settlement }: Parameters<PaymentGateway['authorize']>[0]) {
    const known = this.#payments.get(challengeId)
    const status = settlement === 'manual' ? ('held' as const) : ('captured' as const)
    if (known === undefined) this.#payments.set(challengeId, { status, captures: status === 'captured' ? 1 : 0 })
    // As Stripe does, it repeats its first answer.
    return {
      kind: settlement === 'manual' ? ('authorized' as const) : ('captured' as const),
      reference: `pi_${challengeId}`,
    }
  }

  async capture({ challengeId }: { challengeId: string }) {
    const payment = this.#of(challengeId)
    if (payment.status === 'canceled') return 'refused'
    if (payment.status === 'held') Object.assign(payment, { status: 'captured', captures: payment.captures + 1 })
    return 'captured'
  }

  async cancel({ challengeId }: { challengeId: string }) {
    const payment = this.#of(challengeId)
    if (payment.status === 'captured') return 'captured'
    payment.status = 'canceled'
    return 'canceled'
  }

  async find({ challengeId }: { challengeId: string }) {
    return this.#payments.has(challengeId) ? { challengeId, reference: `pi_${challengeId}` } : undefined
  }

  async *list() {}

  status(challengeId: string): string {
    return this.#payments.get(challengeId)?.status ?? 'none'
  }

  captures(challengeId: string): number {
    return this.#payments.get(challengeId)?.captures ?? 0
  }

  #of(challengeId: string) {
    const payment = this.#payments.get(challengeId)
    if (payment === undefined) throw new Error(`no payment of ${challengeId}`)
    return payment
  }
}

/** A process that dies at its nth call to anything, before or after the call has its effect; never when n is 0. */
class Mortal {
  readonly calls: string[] = []
  #isDead = false
  readonly #dying: { nth: number; when: 'before' | 'after' }

  constructor(dying: { nth: number; when: 'before' | 'after' }) {
    this.#dying = dying
  }

  wrap<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...args: unknown[]) => {
          this.#assertAlive()
          this.calls.push(String(name))
          const isLast = this.calls.length === this.#dying.nth
          if (isLast && this.#dying.when === 'before') this.#die()
          const result = await method.apply(target, args)
          if (isLast) this.#die()
          return result
        }
      },
    })
  }

  #die(): never {
    this.#isDead = true
    throw new Error('died')
  }

  #assertAlive(): void {
    if (this.#isDead) throw new Error('dead')
  }
}

interface World {
  readonly store: PaymentStore
  readonly books: Books
  readonly mode: SettlementMode
}

interface Tried {
  readonly outcome: 'answered' | 'refused' | 'died' | 'owed'
  readonly calls: readonly string[]
}

let owners = 0

/** Serves one submit as one process: money, reply, delivery. */
async function serve(
  { store, books, mode }: World,
  submission: Submission,
  dying = { nth: 0, when: 'after' as const } as {
    nth: number
    when: 'before' | 'after'
  },
): Promise<Tried> {
  const process = new Mortal(dying)
  const settlement = new Settlement({
    store: process.wrap(store),
    gateway: process.wrap(books),
    mode,
    leaseMs: HOUR_MS,
    patienceMs: 0,
    randomId: () => `owner-${++owners}`,
    log: createRecordingLog(),
  })
  const upstream = process.wrap({ ask: async () => {} })
  try {
    const begun = await settlement.begin(submission, new AbortController().signal)
    if (!isOpen(begun)) return { outcome: 'refused', calls: process.calls }
    try {
      await upstream.ask()
      await begun.capture()
      await begun.consume()
      return { outcome: 'answered', calls: process.calls }
    } finally {
      await begun.release()
    }
  } catch (error) {
    return { outcome: error instanceof GatewayError ? 'owed' : 'died', calls: process.calls }
  }
}

function submissionOf(challengeId: string): Submission {
  return {
    challengeId,
    windowId: 'w',
    expiresAtMs: Date.now() + HOUR_MS,
    tokenHash: 'hash',
    token: 'spt_1',
    amountCents: 50,
    currency: 'usd',
    route: '/v1/agent/messages',
    model: 'm',
  }
}

async function dieAt(
  t: ExecutionContext,
  { place, store: sql }: OpenPlace,
  {
    mode,
    nth,
    when,
    reaps,
    name,
  }: { mode: SettlementMode; nth: number; when: 'before' | 'after'; reaps: boolean; name: string },
): Promise<boolean> {
  const store = createPaymentStore(sql)
  const world: World = { store, books: new Books(), mode }
  const challengeId = `${name}-${mode}-${nth}-${when}-${reaps}`
  const submission = submissionOf(challengeId)
  const first = await serve(world, submission, { nth, when })
  if (first.calls.length < nth) {
    t.is(first.outcome, 'answered')
    return false
  }
  const at = `${mode}: died ${when} ${first.calls.join(' > ')}${reaps ? ', reaped' : ''}`
  t.is(first.outcome, 'died', at)
  await place.sql(`update payment set lease_until_ms = 0 where id = '${challengeId}'`)
  if (reaps) {
    await place.sql(`update payment set due_at_ms = 0 where id = '${challengeId}' and due_at_ms is not null`)
    const log = createRecordingLog()
    const parts = {
      store,
      sessions: { sweep: async () => 0 },
      sweepDaily: async () => {},
      gateway: world.books,
      leaseMs: HOUR_MS,
      everyMs: HOUR_MS,
      log,
    }
    const reaper = createReaper({ ...parts, randomId: () => `reaper-${++owners}` })
    await reaper.reap()
    await reaper.close()
    t.not(world.books.status(challengeId), 'held', `${at}: nothing stays held`)
  }
  const second = await serve(world, submission)
  const third = await serve(world, submission)
  const captures = world.books.captures(challengeId)
  t.true(captures <= 1, at)
  t.is(third.outcome, 'refused', `${at}: it is over`)
  // The one gap that cannot be closed: the store has let the answer go, and the process died before it did.
  const wasLetGo =
    first.calls.at(-1) === 'move' &&
    first.calls.filter((call) => call === 'move').length === (mode === 'manual' ? 3 : 2) &&
    when === 'after'
  if (wasLetGo) t.deepEqual([captures, second.outcome], [1, 'refused'], at)
  else t.is(second.outcome === 'answered', captures === 1, `${at}: an answer if and only if captured`)
  if (!reaps && !wasLetGo) t.is(second.outcome, 'answered', `${at}: the same credential goes on`)
  if (reaps && first.calls[0] === 'claim' && first.calls.length === 1 && when === 'before')
    t.is(second.outcome, 'answered', `${at}: nothing had happened`)
  return true
}

for (const engine of engines)
  for (const mode of ['manual', 'automatic'] as const)
    engine.test(`payments: a process dies at each await of the way (${mode}); the books are right`, async (t) => {
      // A reaper looks at all there is: each test has a database of its own.
      const place = await engine.createPlace(t)
      const open = { place, store: await place.open() }
      await createPaymentStore(open.store).openWindow('w')
      let deaths = 0
      for (const when of ['before', 'after'] as const)
        for (const reaps of [false, true])
          for (let nth = 1; await dieAt(t, open, { mode, nth, when, reaps, name: engine.name }); nth++) deaths++
      t.log(`${deaths} deaths`)
      t.true(deaths >= (mode === 'manual' ? 28 : 20), `${deaths}`)
    })

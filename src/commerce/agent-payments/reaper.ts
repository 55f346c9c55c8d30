import { messageOf } from '../../core/errors.ts'
import { startInterval } from '../../core/interval.ts'
import type { Log } from '../../core/ports/log.ts'
import type { OverduePayment, PaymentGateway, PaymentStore, SessionStore } from '../../core/ports/payments.ts'
import { createOpenPayment } from './open-payment.ts'

/** What a reaper is made from. */
export interface ReaperOptions {
  readonly store: PaymentStore
  /** Its calls that a crash cut off are given back. */
  readonly sessions: Pick<SessionStore, 'sweep'>
  readonly gateway: PaymentGateway
  /** Compares with the payment provider, when that is due. */
  readonly sweepDaily: (signal: AbortSignal) => Promise<void>
  readonly leaseMs: number
  /** How often it looks, in milliseconds. */
  readonly everyMs: number
  readonly randomId: () => string
  readonly log: Log
}

/** Ends payments that nobody came back for. */
export interface Reaper {
  /** Ends all whose time has run out; done at the start and now and then. */
  reap(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a reaper. It lets go of what is held, and believes Stripe about what has happened: money that was taken after
 * all stays with its payment, whose payer can still have the answer.
 */
export function createReaper(options: ReaperOptions): Reaper {
  const { everyMs, log } = options
  const interval = startInterval((signal) => reapAll(options, signal), {
    everyMs,
    onError: (error) => log.warn({ reason: messageOf(error) }, 'payment.reaping-failed'),
  })
  void interval.run()
  // A comparison with all that Stripe has may take minutes, and can be done another day: `close` aborts it.
  return { reap: () => reapAll(options, new AbortController().signal), close: () => interval.close() }
}

async function reapAll(options: ReaperOptions, signal: AbortSignal): Promise<void> {
  const { store, sessions, leaseMs, randomId, log } = options
  const overdue = await store.takeOverdue({ owner: randomId(), leaseMs })
  for (const held of overdue) {
    // One that cannot be ended now is tried again the next time.
    await reapOne(held, options).catch((error: unknown) => {
      log.warn({ challengeId: held.challengeId, reason: messageOf(error) }, 'payment.reaping-failed')
    })
  }
  await sessions.sweep()
  await store.prune()
  await options.sweepDaily(signal)
}

/** From a challenge's begin until it is due, with what clocks may differ by. */
const LONGEST_OPEN_MS = 15 * 60_000

async function reapOne(held: OverduePayment, { store, gateway, leaseMs, log }: ReaperOptions): Promise<void> {
  const { challengeId } = held
  const payment = createOpenPayment(held, { store, gateway, leaseMs, log, onClosed() {} })
  try {
    const sinceMs = held.dueAtMs - LONGEST_OPEN_MS
    const reference = held.reference ?? (await gateway.find({ challengeId, sinceMs }))?.reference
    const outcome = reference === undefined ? 'canceled' : await gateway.cancel({ challengeId, reference })
    await payment.move(outcome === 'captured' ? 'captured' : 'expired', reference)
    if (outcome === 'captured') log.warn({ challengeId, reference }, 'payment.captured-without-answer')
    else log.info({ challengeId, reference }, 'payment.expired')
  } finally {
    await payment.release()
  }
}

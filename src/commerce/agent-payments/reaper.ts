import { messageOf } from '../../core/errors.ts'
import { startInterval } from '../../core/interval.ts'
import type { Log } from '../../core/ports/log.ts'
import type { OverduePayment, PaymentGateway, PaymentStore, SessionStore } from '../../core/ports/payments.ts'
import { createOpenPayment } from './open-payment.ts'

/** Dependencies of the reaper. */
export interface ReaperOptions {
  readonly store: PaymentStore
  /** Its calls that a crash interrupted are given back. */
  readonly sessions: Pick<SessionStore, 'sweep'>
  readonly gateway: PaymentGateway
  /** Reconciles with the payment provider, when that is due. */
  readonly sweepDaily: (signal: AbortSignal) => Promise<void>
  readonly leaseMs: number
  /** Interval in milliseconds. */
  readonly everyMs: number
  readonly randomId: () => string
  readonly log: Log
}

/** Ends abandoned payments. */
export interface Reaper {
  /** Ends all expired payments; runs at the start and periodically. */
  reap(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a reaper. It releases held money, and accepts Stripe's state: money that was captured after
 * all stays with its payment, whose payer can still receive the reply.
 */
export function createReaper(options: ReaperOptions): Reaper {
  const { everyMs, log } = options
  const interval = startInterval((signal) => reapAll(options, signal), {
    everyMs,
    onError: (error) => log.warn({ reason: messageOf(error) }, 'payment.reaping-failed'),
  })
  void interval.run()
  // A reconciliation of everything may take minutes, and can be repeated another day: `close` aborts it.
  return { reap: () => reapAll(options, new AbortController().signal), close: () => interval.close() }
}

async function reapAll(options: ReaperOptions, signal: AbortSignal): Promise<void> {
  const { store, sessions, leaseMs, randomId, log } = options
  const overdue = await store.takeOverdue({ owner: randomId(), leaseMs })
  for (const held of overdue) {
    // A failed end is retried in the next round.
    await reapOne(held, options).catch((error: unknown) => {
      log.warn({ challengeId: held.challengeId, reason: messageOf(error) }, 'payment.reaping-failed')
    })
  }
  await sessions.sweep()
  await store.prune()
  await options.sweepDaily(signal)
}

/** Time from a challenge's issue until it is due, including clock differences. */
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

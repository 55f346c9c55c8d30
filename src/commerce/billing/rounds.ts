import { startInterval } from '../../core/interval.ts'
import { faultFields } from './errors.ts'
import { reportMeter } from './meter.ts'
import type { BillingParts } from './parts.ts'
import { rechargeAll } from './recharge.ts'
import { reconcile } from './reconcile.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const PRUNED_AT_ONCE = 200

/** Intervals of the rounds. */
export interface RoundTimes {
  readonly rechargeMs: number
  readonly meterMs: number
}

/** Starts the background rounds; the returned function stops them after the running round. */
export function startRounds(
  parts: BillingParts,
  { times, randomId }: { times: RoundTimes; randomId: () => string },
): () => Promise<void> {
  const rounds = [
    startRound(parts, {
      name: 'recharge',
      firstMs: times.rechargeMs,
      everyMs: times.rechargeMs,
      work: () => rechargeAll(parts, randomId),
    }),
    startRound(parts, {
      name: 'reconcile',
      firstMs: times.rechargeMs,
      everyMs: HOUR_MS,
      work: () => reconcileDaily(parts),
    }),
    ...(parts.settings.overagePrice === undefined
      ? []
      : [
          startRound(parts, {
            name: 'meter',
            firstMs: times.meterMs,
            everyMs: times.meterMs,
            work: () => reportMeter(parts),
          }),
        ]),
  ]
  return async () => void (await Promise.all(rounds.map((stop) => stop())))
}

/** Checked every hour by every instance, run by one of them once a day. */
async function reconcileDaily(parts: BillingParts): Promise<void> {
  if (!(await parts.store.claimTask('reconcile', DAY_MS))) return
  parts.log.info(await reconcile(parts), 'billing.reconciled')
  while ((await parts.store.pruneEvents()) === PRUNED_AT_ONCE);
}

interface Round {
  readonly name: string
  /** Delay of the first round after the start: loading Stripe's package waits until the gateway listens. */
  readonly firstMs: number
  /** Delay between the end of a round and the next. */
  readonly everyMs: number
  readonly work: () => Promise<void>
}

/** Starts a round. A failed round is logged, and retried with the next. */
function startRound({ log }: BillingParts, { name, firstMs, everyMs, work }: Round): () => Promise<void> {
  const onError = (error: unknown) => log.warn({ round: name, ...faultFields(error) }, 'billing.round-failed')
  const interval = startInterval(work, { firstMs, everyMs, onError })
  return () => interval.close()
}

import type { Clock, Exchange, Log } from 'turnpike/plugin'
import type { BytesReply, Ending } from 'turnpike/plugin/bytes'
import { answererOf, costOf, type Estimate, type Prices, type Usage } from 'turnpike/plugin/spend'
import type { Admission } from './admission.ts'
import type { Hold } from './hold.ts'
import { hasInput } from './input.ts'
import { meteredStream } from './metered-stream.ts'
import { runsOn } from './metering.ts'

/** Inputs of a request's settlement. */
export interface Bill {
  readonly exchange: Exchange
  readonly hold: Hold
  readonly admission: Admission
  /** Returns the estimate by weight. */
  readonly weigh: () => Estimate
  readonly isMetered: boolean
  /** Moment of admission, whose prices apply. */
  readonly atMs: number
  readonly clock: Clock
  readonly prices: Prices
  readonly log: Log
  readonly learn: (usage: Usage) => void
}

/**
 * Upper bound on the generation rate of hidden output, in a JSON reply or hidden reasoning: such models are not faster.
 * A client that disconnects early is charged for that, neither nothing nor the worst case.
 */
const MOST_TOKENS_A_SECOND = 500

/** Settles a reply once, on any end, and keeps a stream within its hold until then. */
export function settleReply(bill: Bill): void {
  const { exchange, hold, admission, weigh, isMetered } = bill
  const { reply } = exchange
  // A plugin replied instead of the provider: nothing is owed.
  if (reply === undefined || answererOf(exchange) === undefined) settle(bill, () => 0)
  else if (reply.kind === 'bytes') settle(bill, () => costOfReply(bill, reply))
  else if (isMetered) {
    exchange.reply = meteredStream(reply, {
      request: exchange.client.document,
      hold,
      estimate: admission.estimate,
      weigh,
      inputOf: (usage) => priced(bill, { ...usage, outputTokens: 0 }),
      onEnd({ ending, mostTokens, mostNanoUsd, isCut }) {
        if (isCut) exchange.note('cut', { mostTokens })
        settle(bill, () => costOfStream(bill, ending, { mostNanoUsd, mostTokens }))
      },
    })
  } else
    void reply.ended.then((ending) =>
      settle(bill, () => costOfStream(bill, ending, { mostNanoUsd: mostByNow(bill, ending.usage), mostTokens: 0 })),
    )
}

/**
 * Settles a request without a reply. A failed provider call costs nothing; one that the client aborted has read the
 * input at least, and may have written output since.
 */
export function settleFailure(bill: Bill, { isAsked }: { isAsked: boolean }): void {
  const isOwed = isAsked && bill.exchange.signal.aborted
  settle(bill, () => (isOwed ? Math.min(mostByNow(bill, undefined), bill.hold.heldNanoUsd) : 0))
}

/**
 * Returns the cost of a reply: a refusal of the provider costs nothing; a reply without counts may have cost all that
 * is held.
 */
function costOfReply(bill: Bill, { status, usage }: BytesReply): number {
  if (status >= 400) return 0
  return usage === undefined ? mostOfHold(bill, 0) : whole(bill, usage)
}

/**
 * Returns the cost of a stream. A complete one has reported its counts. One that ended early costs what was received,
 * never more than the hold.
 */
function costOfStream(
  bill: Bill,
  { outcome, usage }: Ending,
  { mostNanoUsd, mostTokens }: { mostNanoUsd: number; mostTokens: number },
): number {
  if (outcome === 'complete') return usage === undefined ? mostOfHold(bill, mostTokens) : whole(bill, usage)
  const known = usage === undefined ? 0 : priced(bill, usage)
  return Math.max(known, Math.min(mostNanoUsd, bill.hold.heldNanoUsd))
}

/** Returns the part of the hold that a reply without counts may have cost: an estimate by size held more. */
function mostOfHold({ hold, admission, weigh }: Bill, mostTokens: number): number {
  return Math.min(hold.heldNanoUsd, costOf(weigh(), Math.max(admission.heldTokens, mostTokens)))
}

function mostByNow(bill: Bill, usage: Usage | undefined): number {
  const { exchange, hold, weigh, clock, atMs } = bill
  if (runsOn(exchange)) return hold.heldNanoUsd
  const tokens = Math.ceil((Math.max(0, clock.nowMs() - atMs) / 1000) * MOST_TOKENS_A_SECOND)
  const estimate = weigh()
  const inputNanoUsd = hasInput(usage) ? priced(bill, { ...usage, outputTokens: 0 }) : estimate.inputNanoUsd
  return costOf({ ...estimate, inputNanoUsd }, tokens)
}

function whole(bill: Bill, usage: Usage): number {
  bill.learn(usage)
  return priced(bill, usage)
}

function priced({ exchange, prices, atMs }: Bill, usage: Usage): number {
  return prices.price(answererOf(exchange) ?? exchange.target, usage, atMs).costNanoUsd
}

function settle(bill: Bill, cost: () => number): void {
  const { hold, exchange, log } = bill
  hold.settle(knownCost(bill, cost)).catch((error: unknown) => {
    // The database has refused it permanently, or too many wait: the hold counts in full once its lease expires.
    log.warn({ requestId: exchange.id, reason: String(error) }, 'spend.unsettled')
  })
}

/** Returns the cost, or the held amount when the cost cannot be determined. */
function knownCost({ hold, exchange, log }: Bill, cost: () => number): number {
  try {
    return cost()
  } catch (error) {
    log.error({ requestId: exchange.id, reason: String(error) }, 'spend.cost-unknown')
    return hold.heldNanoUsd
  }
}

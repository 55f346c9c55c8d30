import type { Clock, Exchange, Log } from 'turnpike/plugin'
import type { BytesReply, Ending } from 'turnpike/plugin/bytes'
import { answererOf, costOf, type Estimate, type Prices, type Usage } from 'turnpike/plugin/spend'
import type { Admission } from './admission.ts'
import { hasInput, inputTokensOf } from './input.ts'
import { meteredStream } from './metered-stream.ts'
import { runsOn } from './metering.ts'
import { type Charge, NOTHING, type RequestHolds } from './request-holds.ts'

/** Inputs of a request's settlement. */
export interface Bill {
  readonly exchange: Exchange
  readonly holds: RequestHolds
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
  const { exchange, holds, admission, weigh, isMetered } = bill
  const { reply } = exchange
  // A plugin replied instead of the provider: nothing is owed.
  if (reply === undefined || answererOf(exchange) === undefined) settle(bill, () => NOTHING)
  else if (reply.kind === 'bytes') settle(bill, () => chargeOfReply(bill, reply))
  else if (isMetered) {
    exchange.reply = meteredStream(reply, {
      request: exchange.client.document,
      holds,
      estimate: admission.estimate,
      weigh,
      inputOf: (usage) => priced(bill, { ...usage, outputTokens: 0 }).nanoUsd,
      onEnd({ ending, mostTokens, mostNanoUsd, isCut }) {
        if (isCut) exchange.note('cut', { mostTokens })
        settle(bill, () => chargeOfStream(bill, ending, { nanoUsd: mostNanoUsd, outputTokens: mostTokens }))
      },
    })
  } else
    void reply.ended.then((ending) =>
      settle(bill, () =>
        chargeOfStream(bill, ending, ending.outcome === 'complete' ? UNKNOWN : mostByNow(bill, ending.usage)),
      ),
    )
}

/**
 * Settles a request without a reply. A failed provider call costs nothing; one that the client aborted has read the
 * input at least, and may have written output since.
 */
export function settleFailure(bill: Bill, { isAsked }: { isAsked: boolean }): void {
  const isOwed = isAsked && bill.exchange.signal.aborted
  settle(bill, () => (isOwed ? withinHold(bill, mostByNow(bill, undefined), undefined) : NOTHING))
}

/** No more than is held. */
const UNKNOWN: Most = { nanoUsd: 0, outputTokens: 0 }

/** Upper bound of a charge. */
interface Most {
  readonly nanoUsd: number
  /** Output of each choice. */
  readonly outputTokens: number
}

/**
 * Returns the charge of a reply: a refusal of the provider costs nothing; a reply without counts may have cost all that
 * is held.
 */
function chargeOfReply(bill: Bill, { status, usage }: BytesReply): Charge {
  if (status >= 400) return NOTHING
  return usage === undefined ? mostOfHold(bill, 0) : whole(bill, usage)
}

/**
 * Returns the charge of a stream. A complete one has reported its counts. One that ended early costs what was received,
 * never more than the hold.
 */
function chargeOfStream(bill: Bill, { outcome, usage }: Ending, most: Most): Charge {
  if (outcome === 'complete') return usage === undefined ? mostOfHold(bill, most.outputTokens) : whole(bill, usage)
  const known = usage === undefined ? NOTHING : priced(bill, usage)
  const bound = withinHold(bill, most, usage)
  return { nanoUsd: Math.max(known.nanoUsd, bound.nanoUsd), tokens: Math.max(known.tokens, bound.tokens) }
}

/** Returns the part of the hold that a reply without counts may have cost: an estimate by size held more. */
function mostOfHold(bill: Bill, mostTokens: number): Charge {
  const outputTokens = Math.max(bill.admission.heldTokens, mostTokens)
  return withinHold(bill, { nanoUsd: costOf(bill.weigh(), outputTokens), outputTokens }, undefined)
}

/** Returns the bound as a charge, at most what is held. */
function withinHold({ holds, weigh }: Bill, { nanoUsd, outputTokens }: Most, usage: Usage | undefined): Charge {
  const inputTokens = hasInput(usage) ? inputTokensOf(usage) : weigh().inputTokens
  return {
    nanoUsd: Math.min(nanoUsd, holds.money.heldNanoUsd),
    tokens: Math.min(inputTokens + holds.tokensOf(outputTokens), holds.heldTokens),
  }
}

function mostByNow(bill: Bill, usage: Usage | undefined): Most {
  const { exchange, holds, weigh, clock, atMs, admission } = bill
  if (runsOn(exchange)) return { nanoUsd: holds.money.heldNanoUsd, outputTokens: admission.heldTokens }
  const outputTokens = Math.ceil((Math.max(0, clock.nowMs() - atMs) / 1000) * MOST_TOKENS_A_SECOND)
  const estimate = weigh()
  const inputNanoUsd = hasInput(usage) ? priced(bill, { ...usage, outputTokens: 0 }).nanoUsd : estimate.inputNanoUsd
  return { nanoUsd: costOf({ ...estimate, inputNanoUsd }, outputTokens), outputTokens }
}

function whole(bill: Bill, usage: Usage): Charge {
  bill.learn(usage)
  return priced(bill, usage)
}

function priced({ exchange, prices, atMs }: Bill, usage: Usage): Charge {
  const { costNanoUsd: nanoUsd } = prices.price(answererOf(exchange) ?? exchange.target, usage, atMs)
  return { nanoUsd, tokens: inputTokensOf(usage) + usage.outputTokens }
}

function settle(bill: Bill, charge: () => Charge): void {
  const { holds, exchange, log } = bill
  holds.settle(knownCharge(bill, charge)).catch((error: unknown) => {
    // The database has refused it permanently, or too many wait: the hold counts in full once its lease expires.
    log.warn({ requestId: exchange.id, reason: String(error) }, 'spend.unsettled')
  })
}

/** Returns the charge, or the held amounts when it cannot be determined. */
function knownCharge({ holds, exchange, log }: Bill, charge: () => Charge): Charge {
  try {
    return charge()
  } catch (error) {
    log.error({ requestId: exchange.id, reason: String(error) }, 'spend.cost-unknown')
    return { nanoUsd: holds.money.heldNanoUsd, tokens: holds.heldTokens }
  }
}

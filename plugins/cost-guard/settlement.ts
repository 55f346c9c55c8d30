import type { BytesReply, Ending, Exchange, Log, Prices, Target, Usage } from 'turnpike/plugin'
import { costOf, type Estimate } from './estimate.ts'
import type { Hold } from './hold.ts'
import { meteredStream } from './metered-stream.ts'

/** What is needed to settle a request. */
export interface Bill {
  readonly exchange: Exchange
  readonly hold: Hold
  readonly estimate: Estimate
  readonly isMetered: boolean
  /** The moment of admission: its prices hold. */
  readonly atMs: number
  readonly prices: Prices
  readonly log: Log
  readonly learn: (outputTokens: number) => void
}

/** Sees to it that a reply is settled once, however it ends, and that a stream stays within its hold until then. */
export function settleReply(bill: Bill): void {
  const { exchange, hold, estimate, isMetered } = bill
  const { reply } = exchange
  // A module answered in the provider's place: nothing is owed.
  if (reply === undefined || exchange.calls.length === 0) settle(bill, 0)
  else if (reply.kind === 'bytes') settle(bill, costOfReply(bill, reply))
  else if (isMetered) {
    exchange.reply = meteredStream(reply, {
      hold,
      estimate,
      onEnd(ending, mostTokens, isCut) {
        if (isCut) exchange.note('cut', { mostTokens })
        settle(bill, costOfStream(bill, ending, mostTokens))
      },
    })
  } else void reply.ended.then((ending) => settle(bill, costOfStream(bill, ending, undefined)))
}

/**
 * Settles a request that was not answered. A provider that failed is owed nothing; one that the client left while it
 * was working has read the input at least.
 */
export function settleFailure(bill: Bill): void {
  const { exchange, hold, estimate } = bill
  settle(bill, exchange.signal.aborted ? Math.min(estimate.inputNanoUsd, hold.heldNanoUsd) : 0)
}

/** A refusal of the provider costs nothing; an answer without counts may have cost all that is held. */
function costOfReply(bill: Bill, { status, usage }: BytesReply): number {
  if (status >= 400) return 0
  return usage === undefined ? bill.hold.heldNanoUsd : whole(bill, usage)
}

/** A whole stream has told its counts. Of one that ended early, what has come is owed, and never more than is held. */
function costOfStream(bill: Bill, { outcome, usage }: Ending, mostTokens: number | undefined): number {
  const { hold, estimate } = bill
  if (outcome === 'complete') return usage === undefined ? hold.heldNanoUsd : whole(bill, usage)
  const most = mostTokens === undefined ? hold.heldNanoUsd : costOf(estimate, mostTokens)
  const known = usage === undefined ? 0 : priced(bill, usage)
  return Math.max(known, Math.min(most, hold.heldNanoUsd))
}

function whole(bill: Bill, usage: Usage): number {
  bill.learn(usage.outputTokens)
  return priced(bill, usage)
}

function priced({ exchange, prices, atMs }: Bill, usage: Usage): number {
  return prices.price(answererOf(exchange), usage, atMs).costNanoUsd
}

/** Who answered: the last that was asked, or nobody, when a module behind this one gave the reply. */
function answererOf({ calls, target }: Exchange): Target {
  const last = calls.at(-1)
  return last === undefined ? target : { provider: last.provider, model: last.model }
}

function settle({ hold, exchange, log }: Bill, costNanoUsd: number): void {
  hold.settle(costNanoUsd).catch((error: unknown) => {
    // The hold stays, and counts in full when its lease has ended: never too little.
    log.warn({ requestId: exchange.id, reason: String(error) }, 'spend.unsettled')
  })
}

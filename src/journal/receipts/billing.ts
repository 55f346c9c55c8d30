import type { Prices } from '../../core/money/prices.ts'
import { decimalUsd } from '../../core/money/usd.ts'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { Counterfactual, Receipt, ReceiptCost } from '../../core/telemetry/receipt.ts'
import { withInput } from './without-edits.ts'

/** Sources of prices and token counts. */
export interface Accountants {
  readonly pricer: Pick<Prices, 'price'>
  /** Estimates the tokens of the request as it was before plugins edited it. */
  readonly tokens: TokenCounter | undefined
}

/** A finished request, as input of its bill. */
export interface Billed {
  readonly exchange: Exchange
  readonly usage: Usage | undefined
  /** The target that produced the reply, now or when it was stored; otherwise the target whose price the request would have had. */
  readonly served: Target | undefined
  readonly outcome: Receipt['outcome']
  /** Time of the request's admission, in milliseconds since 1970, for prices that change. */
  readonly atMs: number
}

/** Actual and counterfactual cost of a request. */
export interface Bill {
  readonly cost: ReceiptCost
  readonly counterfactual: Counterfactual
}

const FIRST_ERROR_STATUS = 400
const NO_PRICE = { matched: null, price_source: null }
const UNKNOWN: ReceiptCost = { ...NO_PRICE, provider_usd: null }
const NOTHING: ReceiptCost = { ...NO_PRICE, provider_usd: decimalUsd(0) }

/** Computes the bill of a request; its members are in alphabetic order, as a receipt prints them. */
export function billOf(billed: Billed, accountants: Accountants): Bill {
  const { exchange, usage, atMs } = billed
  const answered = exchange.calls.findLast(({ outcome }) => outcome === 'answered')
  if (usage === undefined) return billWithoutUsage(billed, answered?.status)
  const served = billed.served ?? exchange.target
  const { costNanoUsd, source, matched } = accountants.pricer.price(served, usage, atMs)
  const usd = decimalUsd(costNanoUsd)
  const paidUsd = answered === undefined ? decimalUsd(0) : usd
  const cost = { matched: matched ?? null, price_source: source, provider_usd: paidUsd }
  if (answered === undefined) return { cost, counterfactual: { basis: 'cached-reply', explained: CACHED, usd } }
  if (exchange.isEdited) return { cost, counterfactual: estimate({ ...billed, usage, served }, accountants) }
  if (exchange.received !== exchange.client)
    return { cost, counterfactual: { basis: 'estimate', explained: MAPPED, usd } }
  return { cost, counterfactual: { basis: 'same', explained: explain(billed), usd } }
}

const CACHED = 'No provider was called: this is the price of the stored reply’s usage.'
const UNCHANGED = 'No plugin changed the request, so it would have cost the same.'
const MAPPED =
  'Plugins replaced texts of the request by others: this is the price of what was sent, and that of the original is about the same.'
const SUBSTITUTE =
  'No plugin changed the request. The first target failed, and this is the price of the fallback’s reply.'

const CUT_SHORT =
  'No plugin changed the request. The reply was cut short, and this is the price of the usage reported until then.'

function explain({ exchange, outcome }: Billed): string {
  if (outcome === 'incomplete' || outcome === 'cancelled') return CUT_SHORT
  return exchange.calls.length > 1 ? SUBSTITUTE : UNCHANGED
}

/** Bills a request without usage: it has no price, but may still be known to be free. */
function billWithoutUsage({ exchange, outcome }: Billed, answerStatus: number | undefined): Bill {
  const { reply } = exchange
  const same = (cost: ReceiptCost, explained: string): Bill => ({
    cost,
    counterfactual: { basis: 'same', explained, usd: cost.provider_usd },
  })
  if (answerStatus !== undefined && answerStatus < FIRST_ERROR_STATUS)
    return same(UNKNOWN, 'A provider replied, and the reply did not report its usage.')
  if (answerStatus === undefined && reply === undefined && outcome === 'cancelled')
    return same(UNKNOWN, 'The client disconnected before the reply. Whether the provider bills for it is not known.')
  if (exchange.calls.length > 0 || outcome === 'error')
    return same(NOTHING, 'No provider replied successfully, and errors are not billed.')
  return { cost: NOTHING, counterfactual: { basis: 'cached-reply', explained: MODULES_OWN, usd: null } }
}

const MODULES_OWN = 'No provider was called: a plugin replied, and its reply reports no usage.'

type Answered = Billed & { readonly usage: Usage; readonly served: Target }

/** Estimates the unedited request's price: the reply's usage, with the input tokens that edits removed (or added), in its own shares. */
function estimate({ exchange, usage, served, atMs }: Answered, { pricer, tokens }: Accountants): Counterfactual {
  const basis = 'estimate'
  if (tokens === undefined)
    return { basis, explained: 'Plugins changed the request, and there is no token estimate.', usd: null }
  const before = tokens.inputTokens(exchange.client.canonical, served.model)
  const after = tokens.inputTokens(exchange.request, served.model)
  const { least, most } = withInput(usage, before - after)
  const [from, to] = [least, most].map((used) => decimalUsd(pricer.price(served, used, atMs).costNanoUsd))
  const modules = [...new Set(exchange.edits.map(({ module }) => module))].join(', ')
  const explained = `The request was edited (${modules}): an estimated ${before} input tokens before, ${after} after; ${least === most ? IN_ITS_SHARES : IN_A_RANGE}`
  return {
    basis,
    explained: explained.toWellFormed(),
    usd: from ?? null,
    usd_at_most: least === most ? undefined : to,
  }
}

const IN_ITS_SHARES =
  'the difference is priced in the shares of this reply’s own input: read from the prompt cache, written to it, and neither.'
const IN_A_RANGE =
  'the provider does not report its prompt cache, so the bounds price the difference as read from it and as fresh input.'

import type { TokenCounter } from '../../core/ports/token-counter.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { Counterfactual, Pricer, Receipt, ReceiptCost } from '../../core/telemetry/receipt.ts'
import { withInput } from './without-edits.ts'

/** Who knows prices and tokens. */
export interface Accountants {
  readonly pricer: Pricer
  /** Estimates what a request was before modules edited it. */
  readonly tokens: TokenCounter | undefined
}

/** What is billed, and why. */
export interface Billed {
  readonly exchange: Exchange
  readonly usage: Usage | undefined
  /** Who gave the answer, now or when it was stored; else it has the price of the model that would have been asked. */
  readonly served: Target | undefined
  readonly outcome: Receipt['outcome']
  /** The moment of the request's admission, for prices that change. */
  readonly atMs: number
}

/** What a request has cost, and would have cost. */
export interface Bill {
  readonly cost: ReceiptCost
  readonly counterfactual: Counterfactual
}

const NANO = 1_000_000_000
const NANO_DIGITS = 9
const FIRST_ERROR_STATUS = 400
const NO_PRICE = { price_source: null, matched: null }
const UNKNOWN: ReceiptCost = { provider_usd: null, ...NO_PRICE }
const NOTHING: ReceiptCost = { provider_usd: toUsd(0), ...NO_PRICE }

/** Works out the bill of a request. */
export function billOf(billed: Billed, accountants: Accountants): Bill {
  const { exchange, usage, atMs } = billed
  const answered = exchange.calls.findLast(({ outcome }) => outcome === 'answered')
  if (usage === undefined) return billWithoutUsage(billed, answered?.status)
  const served = billed.served ?? exchange.target
  const { costNanoUsd, source, matched } = accountants.pricer.price(served, usage, atMs)
  const usd = toUsd(costNanoUsd)
  const price = { price_source: source, matched: matched ?? null }
  if (answered === undefined)
    return {
      cost: { provider_usd: toUsd(0), ...price },
      counterfactual: { usd, basis: 'cached-reply', explained: CACHED },
    }
  const cost = { provider_usd: usd, ...price }
  if (exchange.isEdited) return { cost, counterfactual: estimate({ ...billed, usage, served }, accountants) }
  return { cost, counterfactual: { usd, basis: 'same', explained: explain(billed) } }
}

const CACHED = 'No provider was asked: this is the price of the stored answer’s usage.'
const UNCHANGED = 'No module changed the request, so it would have cost the same.'
const SUBSTITUTE =
  'No module changed the request. The first choice failed, and this is the price of the substitute’s answer.'

const CUT_SHORT =
  'No module changed the request. The answer was cut short, and this is the price of the usage told until then.'

function explain({ exchange, outcome }: Billed): string {
  if (outcome === 'incomplete' || outcome === 'cancelled') return CUT_SHORT
  return exchange.calls.length > 1 ? SUBSTITUTE : UNCHANGED
}

/** Without usage there is no price; the question is whether something was paid at all. */
function billWithoutUsage({ exchange, outcome }: Billed, answerStatus: number | undefined): Bill {
  const { reply } = exchange
  const same = (cost: ReceiptCost, explained: string): Bill => ({
    cost,
    counterfactual: { usd: cost.provider_usd, basis: 'same', explained },
  })
  if (answerStatus !== undefined && answerStatus < FIRST_ERROR_STATUS)
    return same(UNKNOWN, 'A provider answered, and what came of the answer did not tell its usage.')
  if (answerStatus === undefined && reply === undefined && outcome === 'cancelled')
    return same(UNKNOWN, 'The client left before there was an answer. Whether a provider bills for it is not known.')
  if (exchange.calls.length > 0 || outcome === 'error')
    return same(NOTHING, 'No provider gave an answer, and errors are not billed.')
  return { cost: NOTHING, counterfactual: { usd: null, basis: 'cached-reply', explained: MODULES_OWN } }
}

const MODULES_OWN = 'No provider was asked: a module answered, and its answer tells no usage.'

type Answered = Billed & { readonly usage: Usage; readonly served: Target }

/** The answer's usage, with as many more (or fewer) input tokens as the edits took away (or added), in its own shares. */
function estimate({ exchange, usage, served, atMs }: Answered, { pricer, tokens }: Accountants): Counterfactual {
  const basis = 'estimate'
  if (tokens === undefined)
    return { usd: null, basis, explained: 'Modules changed the request, and nobody here estimates tokens.' }
  const before = tokens.inputTokens(exchange.client.canonical, served.model)
  const after = tokens.inputTokens(exchange.request, served.model)
  const { least, most } = withInput(usage, before - after)
  const [from, to] = [least, most].map((used) => toUsd(pricer.price(served, used, atMs).costNanoUsd))
  const modules = [...new Set(exchange.edits.map(({ module }) => module))].join(', ')
  const explained = `The request was edited (${modules}): an estimated ${before} input tokens before, ${after} after; ${least === most ? IN_ITS_SHARES : IN_A_RANGE}`
  return { usd: from ?? null, ...(least !== most && { usd_at_most: to }), basis, explained: explained.toWellFormed() }
}

const IN_ITS_SHARES =
  'the difference is priced in the shares of this answer’s own input: read from the prompt cache, written to it, and neither.'
const IN_A_RANGE =
  'the provider does not tell its prompt cache, so the difference is priced as read from it at the least, and as fresh input at the most.'

/** USD as a decimal, exactly, with nine digits behind the point. */
export function toUsd(nanoUsd: number): string {
  return `${Math.floor(nanoUsd / NANO)}.${String(nanoUsd % NANO).padStart(NANO_DIGITS, '0')}`
}

import type { Target } from '../../core/request/exchange.ts'
import { writtenRates } from './ceiling.ts'
import { divideUp } from './decimal.ts'
import type { PriceEntry } from './override-schema.ts'
import { type PriceSheet, type PriceStep, perRequest, type TokenRates, toFactor, UNIT_FACTOR } from './sheet.ts'
import { toFactors } from './terms.ts'

/** Returns the catalogue's model whose prices an entry uses; `undefined` when it names none. */
export function entryTarget(entry: PriceEntry | undefined): Target | undefined {
  if (entry?.same_as === undefined) return undefined
  const slash = entry.same_as.indexOf('/')
  return { provider: entry.same_as.slice(0, slash), model: entry.same_as.slice(slash + 1) }
}

/**
 * Applies an operator's entry to the list price, or to the ceiling. The source of changed prices is the operator; an entry
 * that only changes a ceiling leaves it a ceiling.
 */
export function applyEntry(entry: PriceEntry, list: PriceSheet): PriceSheet {
  const steps = writtenSteps(entry)
  const factor = entry.factor === undefined ? UNIT_FACTOR : toFactor(entry.factor)
  return {
    source: steps === undefined && list.source === 'ceiling' ? 'ceiling' : 'operator',
    matched: steps === undefined ? list.matched : (entry.model ?? entry.pattern?.text),
    steps: multiplied(steps ?? list.steps, factor),
    webSearch: entry.web_search === undefined ? list.webSearch : perRequest(entry.web_search),
    webFetch: entry.web_fetch === undefined ? list.webFetch : perRequest(entry.web_fetch),
    call: entry.call === undefined ? list.call : perRequest(entry.call),
    factors: new Map([...list.factors, ...toFactors(entry.factors ?? {})]),
  }
}

function writtenSteps(entry: PriceEntry): [PriceStep, ...PriceStep[]] | undefined {
  const { input, output, long_context: longContext = [] } = entry
  if (input === undefined || output === undefined) return undefined
  const longer = longContext
    .toSorted((a, b) => a.above - b.above)
    .map((step) => ({ aboveInputTokens: step.above, rates: writtenRates(step) }))
  return [{ aboveInputTokens: 0, rates: writtenRates({ ...entry, input, output }) }, ...longer]
}

function multiplied(steps: PriceSheet['steps'], factor: bigint): PriceSheet['steps'] {
  if (factor === UNIT_FACTOR) return steps
  const times = (rate: bigint) => divideUp(rate * factor, UNIT_FACTOR)
  const scaled = ({ aboveInputTokens, rates }: PriceStep): PriceStep => ({
    aboveInputTokens,
    rates: mapRates(rates, times),
  })
  const [first, ...rest] = steps
  return [scaled(first), ...rest.map(scaled)]
}

function mapRates(rates: TokenRates, change: (rate: bigint) => bigint): TokenRates {
  return {
    input: change(rates.input),
    cacheRead: change(rates.cacheRead),
    cacheWrite5m: change(rates.cacheWrite5m),
    cacheWrite1h: change(rates.cacheWrite1h),
    output: change(rates.output),
  }
}

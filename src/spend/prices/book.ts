import { LRUCache } from 'lru-cache'
import type { Cost, CostByClass, CostSplitter, Prices, PriceTerms, Rates } from '../../core/money/prices.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Target } from '../../core/request/exchange.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'
import { type BilledCall, billedCalls } from './billed-calls.ts'
import { type FindListed, openCatalogue } from './catalogue.ts'
import { type CeilingPrice, ceilingSheet } from './ceiling.ts'
import { applyEntry, entryTarget } from './entry-sheet.ts'
import type { PriceEntry, PriceOverrides } from './override-schema.ts'
import { findEntry, PriceFileError } from './overrides.ts'
import { boundsOf, costByClass, costOf, nanoUsdOf, type PriceSheet, type PriceSource, perRequest } from './sheet.ts'

/** Prices, and the sheets that they are computed from. */
export interface PriceBook extends Prices, CostSplitter {
  /** Returns all that is known of a model's price, for display. */
  sheet(target: Target, atMs: number): PriceSheet
}

/** Dependencies of a price book. */
export interface PriceBookOptions {
  readonly overrides: PriceOverrides
  readonly ceiling: CeilingPrice
}

/** Bound of the caches: clients choose the names of models. */
const MOST_REMEMBERED = 1000
const LONGEST_REMEMBERED = 200

type SheetAt = (atMs: number) => PriceSheet

/**
 * Creates a price book: the operator's prices take precedence over the catalogue's. Throws `PriceFileError` when an entry's
 * `same_as` names a model that the catalogue does not have.
 */
export function createPriceBook({ overrides, ceiling }: PriceBookOptions): PriceBook {
  const findListed = openCatalogue()
  assertKnown(overrides, findListed)
  const unknown = ceilingSheet(ceiling)
  const sheet = rememberSheets((target) =>
    resolveSheet(target, { findListed, entry: findEntry(overrides, target), unknown }),
  )
  const webSearch = perRequest(ceiling.web_search)
  const usualRates = rememberRates(webSearch)
  const price = (target: Target, usage: Usage, atMs: number): Cost => {
    const found = sheet(target, atMs)
    const isGuessed = usage.webSearchRequests > 0 && found.webSearch === undefined
    const source = isGuessed ? 'ceiling' : found.source
    return { costNanoUsd: costOf(found, usage, webSearch), source, matched: found.matched }
  }
  return {
    sheet,
    price(target, usage, atMs) {
      const [answer, ...hidden] = billedCalls(target, usage)
      const priceOf = (call: BilledCall) => price(call.target, call.usage, atMs)
      return hidden.map(priceOf).reduce(add, priceOf(answer))
    },
    split(target, usage, atMs) {
      const [answer, ...hidden] = billedCalls(target, usage)
      const splitOf = (call: BilledCall) => costByClass(sheet(call.target, atMs), call.usage, webSearch)
      return hidden.map(splitOf).reduce(addClasses, splitOf(answer))
    },
    rates(target, call, atMs) {
      const found = sheet(target, atMs)
      const { inputTokens, ...terms } = call
      const hasTerms = Object.keys(terms).length > 0
      return hasTerms ? ratesOf(found, { inputTokens, terms, webSearch }) : usualRates(found, inputTokens)
    },
  }
}

function ratesOf(
  sheet: PriceSheet,
  { inputTokens, terms, webSearch }: { inputTokens: number; terms: PriceTerms; webSearch: bigint },
): Rates {
  return {
    ...boundsOf(sheet, inputTokens, terms),
    webSearchNanoUsd: nanoUsdOf(sheet.webSearch ?? webSearch),
    webFetchNanoUsd: nanoUsdOf(sheet.webFetch),
    callNanoUsd: nanoUsdOf(sheet.call),
  }
}

/** Caches rates without terms: they depend on the sheet and on how many of its steps the input exceeds, a few for each sheet. */
function rememberRates(webSearch: bigint): (sheet: PriceSheet, inputTokens: number) => Rates {
  const remembered = new WeakMap<PriceSheet, Map<number, Rates>>()
  return (sheet, inputTokens) => {
    const passed = sheet.steps.filter(({ aboveInputTokens }) => aboveInputTokens < inputTokens).length
    const bySteps = remembered.get(sheet) ?? new Map<number, Rates>()
    const rates = bySteps.get(passed) ?? ratesOf(sheet, { inputTokens, terms: {}, webSearch })
    remembered.set(sheet, bySteps.set(passed, rates))
    return rates
  }
}

/** Caches sheets by name: finding a model takes some hundred comparisons. */
function rememberSheets(resolve: (target: Target) => SheetAt): PriceBook['sheet'] {
  const remembered = new LRUCache<string, SheetAt>(entryLimit(MOST_REMEMBERED))
  return (target, atMs) => {
    const key = `${target.provider}\n${target.model}`
    const known = remembered.get(key)
    if (known !== undefined) return known(atMs)
    const sheetAt = resolve(target)
    if (key.length <= LONGEST_REMEMBERED) remembered.set(key, sheetAt)
    return sheetAt(atMs)
  }
}

interface Known {
  readonly findListed: FindListed
  readonly entry: PriceEntry | undefined
  readonly unknown: PriceSheet
}

/** Resolves a target's sheet. An entry is applied once per list price, not once per call. */
function resolveSheet(target: Target, { findListed, entry, unknown }: Known): SheetAt {
  const listed = findListed(entryTarget(entry) ?? target)
  const listAt = (atMs: number) => listed?.sheetAt(atMs) ?? unknown
  if (entry === undefined) return listAt
  const applied = new Map<PriceSheet, PriceSheet>()
  return (atMs) => {
    const list = listAt(atMs)
    const known = applied.get(list) ?? applyEntry(entry, list)
    applied.set(list, known)
    return known
  }
}

function assertKnown({ models }: PriceOverrides, findListed: FindListed): void {
  for (const [index, entry] of models.entries()) {
    const target = entryTarget(entry)
    if (target === undefined || findListed(target)?.sheetAt(0) !== undefined) continue
    throw new PriceFileError(`\`models.${index}.same_as\`: the catalogue has no price for \`${entry.same_as}\`.`)
  }
}

const SURENESS: readonly PriceSource[] = ['operator', 'catalogue', 'ceiling']

function add(sum: Cost, part: Cost): Cost {
  return {
    costNanoUsd: Math.min(sum.costNanoUsd + part.costNanoUsd, Number.MAX_SAFE_INTEGER),
    source: SURENESS.indexOf(part.source) > SURENESS.indexOf(sum.source) ? part.source : sum.source,
    matched: sum.matched,
  }
}

function addClasses(sum: CostByClass, part: CostByClass): CostByClass {
  return {
    input: sum.input + part.input,
    cacheRead: sum.cacheRead + part.cacheRead,
    cacheWrite5m: sum.cacheWrite5m + part.cacheWrite5m,
    cacheWrite1h: sum.cacheWrite1h + part.cacheWrite1h,
    output: sum.output + part.output,
    reasoning: sum.reasoning + part.reasoning,
    serverTools: sum.serverTools + part.serverTools,
  }
}

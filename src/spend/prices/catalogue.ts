import { createRequire } from 'node:module'
import type { ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices'
import type { Target } from '../../core/request/exchange.ts'
import { catalogueNames, catalogueProvider } from './model-names.ts'
import { type PriceSheet, type PriceStep, perRequest, perToken, type TokenRates } from './sheet.ts'
import { documentedFactors } from './terms.ts'

const require = createRequire(import.meta.url)

/** A model of the catalogue. Prices change by date and, with some providers, by hour of the day. */
export interface ListedModel {
  /** In tokens; `undefined` where it is not known. */
  readonly contextWindow: number | undefined
  sheetAt(atMs: number): PriceSheet | undefined
}

/** Finds models in the catalogue; `undefined` for an unknown one. */
export type FindListed = (target: Target) => ListedModel | undefined

type Library = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice' | 'findProvider'>
interface Match {
  readonly provider: Provider
  readonly model: ModelInfo
}

/** Price of a one-hour cache write relative to input (Claude API, "Prompt caching"). */
const CLAUDE_1H_WRITE = 2n

/** Opens the bundled catalogue of list prices. It takes 44 ms and 19 MB, and is loaded for the first model. */
export function openCatalogue(): FindListed {
  let loaded: Library | undefined
  return (target) => {
    loaded ??= require('@pydantic/genai-prices') as Library // safe: the package's own types
    const library = loaded
    for (const name of catalogueNames(target.provider, target.model)) {
      const match = findMatch(library, target.provider, name)
      if (match !== undefined) return toListed(library, match, name)
    }
    return undefined
  }
}

/**
 * Finds a model. A provider that the catalogue does not know is the operator's own service: the model's name may still
 * match. The provider is not given to the library, which guesses: any name with `openai` in it counts as OpenAI there.
 */
function findMatch({ calcPrice, findProvider }: Library, ourProvider: string, model: string): Match | undefined {
  const provider = catalogueProvider(ourProvider)
  const isKnown = findProvider({ providerId: provider })?.id === provider
  const timestamp = new Date(0)
  if (isKnown) return calcPrice({}, model, { providerId: provider, timestamp }) ?? undefined
  return calcPrice({}, model, { timestamp }) ?? calcPrice({}, lastSegment(model), { timestamp }) ?? undefined
}

function lastSegment(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

/** Converts a match; the library only selects prices by time, since its own computations use floats. */
function toListed({ calcPrice }: Library, { provider, model }: Match, name: string): ListedModel {
  const alone = { ...provider, models: [model] }
  const { context_window: contextWindow } = model
  const sheets = new Map<ModelPrice, PriceSheet | undefined>()
  const sheetOf = (prices: ModelPrice) => {
    if (!sheets.has(prices)) sheets.set(prices, toSheet(prices, { provider, model }))
    return sheets.get(prices)
  }
  if (!Array.isArray(model.prices)) {
    const sheet = sheetOf(model.prices)
    return { contextWindow, sheetAt: () => sheet }
  }
  return {
    contextWindow,
    sheetAt(atMs) {
      const found = calcPrice({}, name, { provider: alone, timestamp: new Date(atMs) })
      return found === null ? undefined : sheetOf(found.model_price)
    },
  }
}

/** Converts prices; `undefined` for models that are not priced by input and output tokens, such as transcription. */
function toSheet(prices: ModelPrice, { provider, model }: Match): PriceSheet | undefined {
  const isGivenAway = Object.keys(prices).length === 0 && model.id.endsWith(':free')
  const priced = isGivenAway ? { input_mtok: 0, output_mtok: 0 } : prices
  if (priced.input_mtok === undefined || priced.output_mtok === undefined) return undefined
  const at = (key: string, inputTokens: number) => priceAt(priced[key], inputTokens)
  const starts = Object.values(priced).flatMap((price) =>
    typeof price === 'object' ? price.tiers.map(({ start }) => start) : [],
  )
  const step = (aboveInputTokens: number): PriceStep => ({
    aboveInputTokens,
    rates: toRates((key) => at(key, aboveInputTokens), model.id),
  })
  const fee = (key: string) => {
    const price = at(key, 0)
    return price === undefined ? undefined : perRequest(price)
  }
  return {
    source: 'catalogue',
    matched: `${provider.id}/${model.id}`,
    steps: [step(0), ...[...new Set(starts)].sort((a, b) => a - b).map(step)],
    webSearch: isGivenAway ? 0n : fee('web_searches_kcount'),
    webFetch: 0n, // Claude API, "Web fetch tool": no charge beyond its tokens
    call: fee('requests_kcount') ?? 0n,
    factors: documentedFactors(provider.id, model.id),
  }
}

/** Converts rates. Cached tokens without a price of their own are billed as input. */
function toRates(at: (key: string) => number | undefined, model: string): TokenRates {
  const rate = (key: string) => {
    const price = at(key)
    return price === undefined ? undefined : perToken(price)
  }
  const input = rate('input_mtok') ?? 0n
  const cacheWrite = rate('cache_write_mtok') ?? input
  return {
    input,
    cacheRead: rate('cache_read_mtok') ?? input,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: rate('cache_write_1h_mtok') ?? (model.includes('claude') ? CLAUDE_1H_WRITE * input : cacheWrite),
    output: rate('output_mtok') ?? 0n,
  }
}

/** Returns USD of the tier that begins at or below `start`. */
function priceAt(price: ModelPrice[string], start: number): number | undefined {
  if (typeof price !== 'object') return price
  return price.tiers.reduce((found, tier) => (tier.start <= start ? tier.price : found), price.base)
}

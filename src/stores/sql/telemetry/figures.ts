import { type RawBuilder, sql } from 'kysely'
import type { UsageFigures } from '../../../core/telemetry/usage.ts'
import { IS_ERROR } from './conditions.ts'
import { HOUR_SUMS } from './schema.ts'

const US_PER_MS = 1000
/** As for the sums of hours: a larger reported value is absurd, and would distort the others. */
const MOST_OF_ONE = sql.lit(1e12)

/** Sums of a group. */
export const FIGURE_SUMS = HOUR_SUMS.filter((column) => column !== 'gateway_us')

/** A sum of a group. */
export type FigureSum = Exclude<(typeof HOUR_SUMS)[number], 'gateway_us'>

type Figures = Readonly<Record<FigureSum, number>>

const flag = (condition: RawBuilder<unknown>) => sql`case when ${condition} then 1 else 0 end`
/** Returns the expression of an amount without absurd values. */
export const plausible = (column: string) =>
  sql`case when ${sql.ref(column)} > ${MOST_OF_ONE} then ${MOST_OF_ONE} else ${sql.ref(column)} end`
const cost = plausible('cost_nano_usd')
const without = plausible('counterfactual_nano_usd')
const saved = sql`coalesce(${without} - ${cost}, 0)`
const atMost = plausible('counterfactual_at_most_nano_usd')
const more = sql`coalesce(${atMost} - ${without} + 0 * ${cost}, 0)`
/** A refused request has used nothing. */
const used = (amount: RawBuilder<unknown>) => sql`case when outcome = 'refused' then 0 else ${amount} end`

/** Figures of one row, as the sums of slices count it. */
export const ROW_FIGURES: Readonly<Record<FigureSum, RawBuilder<unknown>>> = {
  requests: sql`1`,
  errors: flag(sql`outcome = 'refused' or ${IS_ERROR}`),
  unfinished: flag(sql`outcome not in ('complete', 'refused') and not ${IS_ERROR}`),
  cache_hits: used(flag(sql`cache = 'hit'`)),
  cache_attached: used(flag(sql`cache = 'attached'`)),
  cache_misses: used(flag(sql`cache = 'miss'`)),
  input_tokens: used(sql`coalesce(${plausible('input_tokens')}, 0)`),
  output_tokens: used(sql`coalesce(${plausible('output_tokens')}, 0)`),
  cache_read_tokens: used(sql`coalesce(${plausible('cache_read_tokens')}, 0)`),
  cache_write_tokens: used(sql`coalesce(${plausible('cache_write_tokens')}, 0)`),
  cost_nano_usd: used(sql`coalesce(${cost}, 0)`),
  unpriced: used(flag(sql`cost_nano_usd is null`)),
  saved_nano_usd: used(saved),
  saved_estimate_nano_usd: used(sql`case when counterfactual_basis = 'estimate' then ${saved} else 0 end`),
  provider_us: used(sql`coalesce(provider_us, 0)`),
  asked: used(flag(sql`provider_us is not null`)),
  ceiling_nano_usd: used(sql`case when price_source = 'ceiling' then coalesce(${cost}, 0) else 0 end`),
  saved_more_nano_usd: used(sql`case when ${more} > 0 then ${more} else 0 end`),
}

/** Adds sums up, each to the largest exact number at most. */
export function figuresOf(all: readonly Figures[]): Figures {
  const sums = FIGURE_SUMS.map((column) => [
    column,
    Math.min(
      Number.MAX_SAFE_INTEGER,
      all.reduce((sum, own) => sum + own[column], 0),
    ),
  ])
  // Safe: these are all the columns.
  return Object.fromEntries(sums) as Figures
}

/** Returns sums under the names of figures. */
export function toFigures(sums: Figures): UsageFigures {
  return {
    requests: sums.requests,
    errors: sums.errors,
    unfinished: sums.unfinished,
    cacheHits: sums.cache_hits,
    cacheAttached: sums.cache_attached,
    cacheMisses: sums.cache_misses,
    tokens: {
      input: sums.input_tokens,
      output: sums.output_tokens,
      cacheRead: sums.cache_read_tokens,
      cacheWrite: sums.cache_write_tokens,
    },
    costNanoUsd: sums.cost_nano_usd,
    ceilingNanoUsd: sums.ceiling_nano_usd,
    unpriced: sums.unpriced,
    savedNanoUsd: sums.saved_nano_usd,
    savedEstimateNanoUsd: sums.saved_estimate_nano_usd,
    savedMoreNanoUsd: sums.saved_more_nano_usd,
    providerMs: sums.provider_us / US_PER_MS,
    asked: sums.asked,
  }
}

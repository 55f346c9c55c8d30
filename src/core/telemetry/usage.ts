import type { TokensByClass } from './telemetry.ts'

/** Properties by which requests are grouped and filtered. */
export const DIMENSIONS = [
  'key',
  'person',
  'team',
  'tag',
  'conversation',
  'client',
  'model',
  'provider',
  'module',
] as const

/** A property by which requests are grouped and filtered. */
export type Dimension = (typeof DIMENSIONS)[number]

/** Value of a property that a request does not have: no team, no tag, no model that answered. */
export const WITHOUT = '-'

/** Values of properties, which all must match; a model is `provider/model`, a conversation also that of its sub-agents. */
export type DimensionFilter = { readonly [Name in Dimension]?: string | undefined }

/** Property of groups: also the reason of refused and failed requests, by its code. */
export type GroupBy = Dimension | 'reason'

/** All groups. */
export const GROUPS = [...DIMENSIONS, 'reason'] as const

/** Most groups of one query. */
export const MOST_GROUPS = 20_000

/** Length of a slice of sums: the boundaries of every time zone's days lie between two of them. */
export const SLICE_MS = 15 * 60 * 1000

/** Sums of requests. */
export interface UsageFigures {
  readonly requests: number
  /** Requests that ended with an error's status, or without one, refused ones included. */
  readonly errors: number
  /** Replies that broke off, or whose client disconnected. */
  readonly unfinished: number
  readonly cacheHits: number
  readonly cacheAttached: number
  readonly cacheMisses: number
  readonly tokens: TokensByClass
  readonly costNanoUsd: number
  /** The part of it that was priced at the ceiling, since the price of the model is not known. */
  readonly ceilingNanoUsd: number
  /** Requests whose cost is not known, and not in the sum. */
  readonly unpriced: number
  /** Savings of the gateway: below zero when it cost more. */
  readonly savedNanoUsd: number
  /** The part of it that is estimated. */
  readonly savedEstimateNanoUsd: number
  /** Further possible savings, where savings are a range. */
  readonly savedMoreNanoUsd: number
  readonly providerMs: number
  /** Requests for which a provider was called. */
  readonly asked: number
}

/** Sums of the requests with one value of a property. */
export interface UsageGroup extends UsageFigures {
  /** The value; `WITHOUT` for none. A request with several tags or modules is in the group of each. */
  readonly name: string
}

/** Groups, the dearest first, and the sums of all requests that match, each counted once. */
export interface UsageGroups {
  readonly groups: readonly UsageGroup[]
  /** There are more groups than the limit. */
  readonly hasMore: boolean
  readonly total: UsageFigures
}

/** Parses the list of modules in a pipeline's text: distinct names, sorted. */
export function modulesOf(pipeline: string): readonly string[] {
  if (pipeline === '' || pipeline === 'none') return []
  return [...new Set(pipeline.split(',').map((step) => step.split('?')[0] ?? ''))].toSorted()
}

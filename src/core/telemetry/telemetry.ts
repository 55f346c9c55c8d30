import type { CostByClass } from '../money/prices.ts'
import type { DialectName } from '../reply/reply-dialect.ts'
import type { Conversation } from '../request/conversation/conversation.ts'
import type { RouteName } from '../request/route-name.ts'
import type { ModuleSample } from './module-figures.ts'
import type { LossReason, PrefixLoss } from './prefix-loss.ts'
import type { Counterfactual, Receipt } from './receipt.ts'
import type { DimensionFilter, GroupBy, UsageFigures, UsageGroups } from './usage.ts'

/** Result of the caches for a request; `none`: no cache was in its pipeline, or none was used. */
export type CacheOutcome = 'hit' | 'attached' | 'miss' | 'none'

/** Ending of a request; `refused`: before its pipeline, so it has no receipt. */
export type RequestOutcome = Receipt['outcome'] | 'refused'

/**
 * One request whose reply has ended, for usage figures and inspection: its receipt as numbers, and its
 * trace. Never prompts, replies or credentials.
 */
export interface FinishedRequest {
  /** `rcpt_` and 26 characters, sorting by time: also the id of its receipt, if it has one. */
  readonly id: string
  readonly requestId: string
  readonly hasReceipt: boolean
  /** The caller's scope; only that scope finds it. */
  readonly scope: string
  readonly keyId: string | null
  /** Account of the key; `null` without one. */
  readonly userId: string | null
  /** Team of the key at admission. */
  readonly teamId: string | null
  /** Tags of the key and of the request, sorted; at most 8. */
  readonly tags: readonly string[]
  /** Moment of admission, in milliseconds since 1970. */
  readonly startedAtMs: number
  readonly route: RouteName
  readonly dialect: DialectName
  readonly isStream: boolean
  /** The HTTP status; `null` when the client disconnected before there was one. */
  readonly status: number | null
  readonly outcome: RequestOutcome
  /** Reason of the gateway's refusal, with the error's code or detail first; `null` when it did not refuse. */
  readonly reason: string | null
  readonly cache: CacheOutcome
  /** The pipeline that ran. */
  readonly pipeline: string
  readonly modelAsked: string
  /** `null` when no model answered. */
  readonly modelServed: string | null
  readonly provider: string | null
  /** `null` for a request that was refused before its conversation was known. */
  readonly conversation: RequestConversation | null
  /** `null` when the reply reported none. */
  readonly tokens: RequestTokens | null
  /** The provider's price; `null` when it cannot be known. */
  readonly costNanoUsd: number | null
  /** The cost by class, which adds up to `costNanoUsd`; `null` when that is. */
  readonly costs: CostByClass | null
  /** Source of the price: `operator`, `catalogue`, or `ceiling` for a model whose price is not known. */
  readonly priceSource: string | null
  /** Cost without the gateway; `null` when it cannot be computed. */
  readonly counterfactualNanoUsd: number | null
  /** Upper bound of the cost without the gateway, where that is a range; `null` where it is one figure. */
  readonly counterfactualAtMostNanoUsd: number | null
  /** `estimate`: plugins changed the request; the others are measured. */
  readonly counterfactualBasis: Counterfactual['basis']
  /** The gateway's own share of the wait for the first byte of the reply. */
  readonly gatewayMs: number
  /** The wait for providers; `null` when none was called. */
  readonly providerMs: number | null
  /** From the request's head to the end of the reply. */
  readonly totalMs: number
  /** From the request's head to the first byte of the reply's body; `null` when none was written. */
  readonly firstByteMs: number | null
  /** In the words of the Messages API: `end_turn`, `max_tokens`, `tool_use`, …; `null` when the reply shows none. */
  readonly stopReason: string | null
  /** Names of the tools that the reply calls, at most 32. */
  readonly tools: readonly string[]
  /** Requests of the provider's own tools. */
  readonly serverToolCalls: number
  /** Part of the prompt that was not read from the provider's cache although the turn before had left it there. */
  readonly lost: PrefixLoss | null
  readonly trace: RequestTrace
}

/** The conversation of a finished request. Its turn is 0 for a request that was refused before its pipeline. */
export interface RequestConversation extends Pick<Conversation, 'id' | 'rootId' | 'turn' | 'source'> {
  readonly parentId: string | null
  readonly agent: string | null
  readonly client: string | null
}

/** Tokens of a request and its reply. */
export interface RequestTokens extends TokensByClass {
  /** Part of `cacheWrite` with a lifetime of one hour. */
  readonly cacheWrite1h: number
  /** Part of `output` that was spent on thinking, where the provider reports it. */
  readonly reasoning: number
}

/** Tokens of a request and its reply; `input` are the uncached ones. */
export interface TokensByClass {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** Steps, calls and edits of a request, in order; some kilobytes at most. */
export interface RequestTrace {
  readonly steps: readonly TraceStep[]
  readonly edits: readonly TraceEdit[]
  /** The calls to providers. */
  readonly calls: Receipt['attempts']
  /** Details and edits were left out, since the trace was too long. */
  readonly isCut?: true
}

/** Action of one plugin. */
export interface TraceStep {
  readonly module: string
  readonly action: string
  readonly ms: number
  /** Details that the plugin noted, if they are small. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Edit of the request by one plugin. */
export interface TraceEdit {
  readonly module: string
  readonly paths: readonly string[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** A request in a list. */
export type ListedRequest = Omit<FinishedRequest, 'trace'>

/** Selects all scopes; for the operator only. */
export const EVERYBODY = { everybody: true } as const

/** Scopes of a query: one, several, or all. */
export type Scopes = string | readonly string[] | typeof EVERYBODY

/** Returns whether a scope is one of these. */
export function isAmong(scope: string, scopes: Scopes): boolean {
  if (typeof scopes === 'string') return scope === scopes
  return 'everybody' in scopes || scopes.includes(scope)
}

/** A page of requests. */
export interface RequestPage extends RequestFilter {
  /** The id of the last request of the page before. */
  readonly after?: string | undefined
  /** At most 500. */
  readonly limit: number
}

/** Filter of requests; members that are unset match all. */
export interface RequestFilter extends DimensionFilter, UsagePeriod {
  /** Part of an id, a conversation's id, a key's id, a model, a provider, a pipeline or a reason, in any case. */
  readonly text?: string | undefined
  readonly cache?: CacheOutcome | undefined
  /**
   * `failed`: an error, a reply that broke off, or a client that disconnected; `refused`: by the gateway itself, before or
   * inside the pipeline.
   */
  readonly ended?: 'complete' | 'failed' | 'refused' | undefined
  /** Code of a reason, as a group by reasons has it. */
  readonly reason?: string | undefined
}

/** A stretch of time in milliseconds since 1970; unset: from the first request, to the last. */
export interface UsagePeriod {
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
}

/** Query of groups. */
export interface GroupQuery extends RequestFilter {
  /** Unset: the total alone. */
  readonly by?: GroupBy | undefined
  /** Most groups; at most `MOST_GROUPS`. */
  readonly limit: number
  /** Counts only requests whose rows are still kept, as lists show them; sums are kept longer. */
  readonly isOfRows?: boolean
}

/** A stretch of time, cut into steps. */
export interface UsageRange {
  /** In milliseconds since 1970; the hour in which it lies counts wholly. */
  readonly fromMs: number
  /** The end; the hour that begins then or later does not count. */
  readonly toMs: number
  /** A whole number of hours, counted from 1970 in the range's zone. At most 1,000 steps to a range. */
  readonly stepMs: number
  /** Offsets from UTC of a time zone in the range, oldest first; unset: UTC. */
  readonly offsets?: readonly ZoneOffset[]
}

/** Offset of a time zone from UTC, from a moment on. */
export interface ZoneOffset {
  readonly fromMs: number
  /** A whole number of quarter hours, in milliseconds. */
  readonly offsetMs: number
}

/** Usage of one model by the selected scopes in one step of a range. */
export interface UsageSums extends UsageFigures {
  /** Start of the step on the clock of the range's zone, in milliseconds since 1970; in UTC that is the moment. */
  readonly fromMs: number
  /** Empty when no provider answered. */
  readonly provider: string
  /** Empty when no model answered, and for errors. */
  readonly model: string
  readonly gatewayMs: number
  /** Requests by the gateway's own time: see `GATEWAY_BOUNDS_MS`. */
  readonly gatewayTimes: readonly number[]
}

/** Losses of the prompt cache with one reason. */
export interface LossSums {
  readonly reason: LossReason
  readonly requests: number
  readonly tokens: number
  readonly nanoUsd: number
}

/** Records finished requests. */
export interface Telemetry {
  /** Queues a request; it is stored a moment later, or dropped and counted. Never throws, never waits. */
  record(request: FinishedRequest): void
  /** Lists requests of these scopes, newest first. Throws `service_unavailable`. */
  list(scopes: Scopes, page: RequestPage): Promise<readonly ListedRequest[]>
  /** Finds a request of these scopes with its trace, by its id or its request id. Throws `service_unavailable`. */
  find(scopes: Scopes, id: string): Promise<FinishedRequest | undefined>
  /**
   * Returns usage of scopes that matches the filter, by step, provider and model, from sums. Throws `service_unavailable`, or
   * `invalid_request` for the range.
   */
  usage(scopes: Scopes, range: UsageRange & DimensionFilter): Promise<readonly UsageSums[]>
  /** Returns sums of requests of these scopes by a property. Throws `service_unavailable`. */
  groups(scopes: Scopes, query: GroupQuery): Promise<UsageGroups>
  /** Returns the work of plugins in the newest requests since a moment, at most `most`. Throws `service_unavailable`. */
  modules(scopes: Scopes, sample: { fromMs: number; most: number }): Promise<ModuleSample>
  /**
   * Returns the losses of the prompt cache of scopes in a range, by reason, the dearest first; from rows, so for as long as
   * these are kept. Throws like `usage`.
   */
  losses(scopes: Scopes, range: UsageRange & DimensionFilter): Promise<readonly LossSums[]>
}

import type { DialectName } from '../reply/reply-dialect.ts'
import type { RouteName } from '../request/route-name.ts'
import type { Counterfactual, Receipt } from './receipt.ts'

/** What a cache did with a request; `none`: no cache was asked. */
export type CacheOutcome = 'hit' | 'attached' | 'miss' | 'none'

/** How a request ended; `refused`: before its pipeline, so that it has no receipt. */
export type RequestOutcome = Receipt['outcome'] | 'refused'

/**
 * One request whose reply has ended, for usage figures and for looking into it: what its receipt says as numbers, and its
 * trace. Never prompts, answers or credentials.
 */
export interface FinishedRequest {
  /** `rcpt_` and 26 characters, sorting by time: also the id of its receipt, if it has one. */
  readonly id: string
  readonly requestId: string
  readonly hasReceipt: boolean
  /** Whose it is; only that scope finds it. */
  readonly scope: string
  readonly keyId: string | null
  /** When it was admitted, in milliseconds since 1970. */
  readonly startedAtMs: number
  readonly route: RouteName
  readonly dialect: DialectName
  readonly isStream: boolean
  /** The HTTP status; `null` when the client left before there was one. */
  readonly status: number | null
  readonly outcome: RequestOutcome
  /** Why the gateway refused it, with the error's code or detail first; `null` when it did not. */
  readonly reason: string | null
  readonly cache: CacheOutcome
  /** The pipeline that ran. */
  readonly pipeline: string
  readonly modelAsked: string
  /** `null` when nobody answered. */
  readonly modelServed: string | null
  readonly provider: string | null
  /** `null` when the reply told none. */
  readonly tokens: TokensByClass | null
  /** What the provider bills; `null` when it cannot be known. */
  readonly costNanoUsd: number | null
  /** Where its price came from: `operator`, `catalogue`, or `ceiling` for a model whose price is not known. */
  readonly priceSource: string | null
  /** What it would have cost without the gateway; `null` when it cannot be told. */
  readonly counterfactualNanoUsd: number | null
  /** The most that it may have cost without the gateway, where that is a range; `null` where it is one figure. */
  readonly counterfactualAtMostNanoUsd: number | null
  /** `estimate`: modules changed the request; the others are measured. */
  readonly counterfactualBasis: Counterfactual['basis']
  /** The gateway's own share of the wait for the first of the reply. */
  readonly gatewayMs: number
  /** The wait for providers; `null` when none was asked. */
  readonly providerMs: number | null
  /** From the request's head to the end of the reply. */
  readonly totalMs: number
  readonly trace: RequestTrace
}

/** Tokens of a request and its reply; input is what no prompt cache held. */
export interface TokensByClass {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** What happened to a request, in its order; some kilobytes at most. */
export interface RequestTrace {
  readonly steps: readonly TraceStep[]
  readonly edits: readonly TraceEdit[]
  /** The calls to providers. */
  readonly calls: Receipt['attempts']
  /** It was too long: details and edits were left out. */
  readonly isCut?: true
}

/** What one module did. */
export interface TraceStep {
  readonly module: string
  readonly action: string
  readonly ms: number
  /** What the module noted, as far as it is small. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** What one module changed in the request. */
export interface TraceEdit {
  readonly module: string
  readonly paths: readonly string[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** A request in a list. */
export type ListedRequest = Omit<FinishedRequest, 'trace'>

/** Stands for the scopes of everybody: only who operates the gateway may ask for them. */
export const EVERYBODY = { everybody: true } as const

/** Whose requests are asked for: one scope, several, or everybody's. */
export type Scopes = string | readonly string[] | typeof EVERYBODY

/** Whether a scope is one of these. */
export function isAmong(scope: string, scopes: Scopes): boolean {
  if (typeof scopes === 'string') return scope === scopes
  return 'everybody' in scopes || scopes.includes(scope)
}

/** What to list. */
export interface RequestPage extends RequestFilter {
  /** The id of the last request that was seen. */
  readonly after?: string | undefined
  /** At most 500. */
  readonly limit: number
}

/** Which requests to list; what is unset does not matter. */
export interface RequestFilter {
  /** Part of an id, a key's id, a model, a provider, a pipeline or a reason, in capitals or not. */
  readonly text?: string | undefined
  readonly cache?: CacheOutcome | undefined
  /** `failed`: an error, a reply that broke off, or a client that left. */
  readonly ended?: 'complete' | 'failed' | undefined
  /** No id before this one. */
  readonly fromId?: string | undefined
}

/** A stretch of time, cut into steps. */
export interface UsageRange {
  /** In milliseconds since 1970; the hour in which it lies counts wholly. */
  readonly fromMs: number
  /** The end; the hour that begins then or later does not count. */
  readonly toMs: number
  /** A whole number of hours, counted from 1970, so that days are those of UTC. At most 1,000 steps to a range. */
  readonly stepMs: number
}

/** What scopes have used in one step of a range, of one model. */
export interface UsageSums {
  /** When the step begins, in milliseconds since 1970. */
  readonly fromMs: number
  /** Empty when nobody answered. */
  readonly provider: string
  /** Empty when nobody answered, and for errors. */
  readonly model: string
  readonly requests: number
  /** Requests that ended with an error's status, or without one. */
  readonly errors: number
  /** Replies that broke off, or that the client left. */
  readonly unfinished: number
  readonly cacheHits: number
  readonly cacheAttached: number
  readonly cacheMisses: number
  readonly tokens: TokensByClass
  readonly costNanoUsd: number
  /** The part of it that was priced at the ceiling, since the price of the model is not known: the most that it was. */
  readonly ceilingNanoUsd: number
  /** Requests whose cost is not known, and not in the sum. */
  readonly unpriced: number
  /** What the gateway has saved: below zero when it cost more. */
  readonly savedNanoUsd: number
  /** The part of it that is estimated. */
  readonly savedEstimateNanoUsd: number
  /** As much more may have been saved, where savings are a range. */
  readonly savedMoreNanoUsd: number
  readonly gatewayMs: number
  readonly providerMs: number
  /** Requests for which a provider was asked. */
  readonly asked: number
  /** How many requests took the gateway how long: see `GATEWAY_BOUNDS_MS`. */
  readonly gatewayTimes: readonly number[]
}

/** Records finished requests. */
export interface Telemetry {
  /** Takes a request in; it is stored a moment later, or dropped and counted. Never throws, never waits. */
  record(request: FinishedRequest): void
  /** Requests of these scopes, newest first. Throws `service_unavailable`. */
  list(scopes: Scopes, page: RequestPage): Promise<readonly ListedRequest[]>
  /** A request of these scopes with its trace, by its id or its request id. Throws `service_unavailable`. */
  find(scopes: Scopes, id: string): Promise<FinishedRequest | undefined>
  /** The use of scopes, by step, provider and model, from sums. Throws `service_unavailable`, or `invalid_request` for the range. */
  usage(scopes: Scopes, range: UsageRange): Promise<readonly UsageSums[]>
}

import type { CostByClass } from '../money/prices.ts'
import type { FinishedRequest, RequestConversation, RequestTokens, Scopes } from './telemetry.ts'

/** Sums of a conversation's turns. */
export interface ConversationTotals {
  readonly turns: number
  /** Turns that ended with an error, or were refused. */
  readonly errors: number
  /** Turns whose cost is not known, and not in the sum. */
  readonly unpriced: number
  readonly tokens: RequestTokens
  readonly serverToolCalls: number
  readonly costNanoUsd: number
  /** The cost by class, which adds up to `costNanoUsd`. */
  readonly costs: CostByClass
  /** Savings of the gateway: below zero when it cost more. */
  readonly savedNanoUsd: number
  /** Tokens that were written to the provider's cache again, and their additional cost. */
  readonly lostTokens: number
  readonly lostNanoUsd: number
}

/** One conversation without its sub-agents. */
export interface ConversationSummary extends Omit<RequestConversation, 'turn'> {
  readonly scope: string
  /** Milliseconds since 1970. */
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** The newest turn's id. */
  readonly lastId: string
  /** Models that have answered, as `provider/model`. */
  readonly models: readonly string[]
  /** Input tokens of the newest turn that reported them, cached ones included. */
  readonly contextTokens: number | null
  readonly totals: ConversationTotals
}

/** A conversation with all sub-agents below it. */
export interface Run extends ConversationSummary {
  /** Sums of the conversation and its sub-agents. */
  readonly runTotals: ConversationTotals
  /** Number of its sub-agents, those that are not listed included. */
  readonly agentCount: number
  /** Its sub-agents, at most 100, the newest first. */
  readonly agents: readonly ConversationSummary[]
}

/** Filter and page of runs; members that are unset match all. */
export interface RunPage {
  /** Part of an id, a client, an agent or a model of any of its conversations, in any case. */
  readonly text?: string | undefined
  readonly client?: string | undefined
  /** Runs with a turn at this moment or later. */
  readonly fromMs?: number | undefined
  /** `newestId` of the last run of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A run in a list. */
export interface ListedRun extends Run {
  /** Id of the newest turn of the run, by which runs are ordered. */
  readonly newestId: string
}

/** One turn of a conversation. */
export interface ConversationTurn extends FinishedRequest {
  /** Place in the conversation from 1, by time. */
  readonly number: number
  /** Input tokens, cached ones included. */
  readonly contextTokens: number | null
  /** Output tokens a second after the first byte; `null` for JSON replies. */
  readonly tokensPerSecond: number | null
  /** Cost of the conversation up to and including this turn. */
  readonly runningNanoUsd: number
}

/** A page of turns or of ids. */
export interface TurnPage {
  /** The last id of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Reads conversations from the rows of requests. Every method throws `service_unavailable`. */
export interface ConversationReader {
  /** Lists the runs of these scopes, newest first. */
  runs(scopes: Scopes, page: RunPage): Promise<readonly ListedRun[]>
  /** Returns a conversation of these scopes with the sub-agents below it. */
  findRun(scopes: Scopes, id: string): Promise<Run | undefined>
  /** Lists the ids of the sub-agents below a conversation, at any depth, in the order of their ids. */
  agentIds(scopes: Scopes, id: string, page: TurnPage): Promise<readonly string[]>
  /** Lists turns of a conversation of these scopes without its sub-agents, oldest first. */
  turns(scopes: Scopes, id: string, page: TurnPage): Promise<readonly ConversationTurn[]>
}

import type { Usage } from '../reply/usage.ts'
import type { Caller } from '../request/caller.ts'
import type { Target } from '../request/exchange.ts'

/** A bound on what may be spent in a window of the UTC calendar. */
export interface Cap {
  /** Whose money: `key:…`, `user:…`, `instance`. */
  readonly scope: string
  readonly period: 'day' | 'month'
  readonly limitNanoUsd: number
}

/** What a caller may spend. */
export interface Caps {
  /** On one request; `undefined`: no bound. */
  readonly perRequestNanoUsd: number | undefined
  readonly windows: readonly Cap[]
}

/** The caps that the operator, and the key itself, have set for a caller. */
export type CapsOf = (caller: Caller) => Caps

/** What a call cost. */
export interface Cost {
  readonly costNanoUsd: number
  /** The least sure of the prices that went into it. */
  readonly source: 'operator' | 'catalogue' | 'ceiling'
  readonly matched: string | undefined
}

/** Upper bounds of a call's price, in nano-USD a token. */
export interface TokenRates {
  readonly inputNanoUsd: number
  readonly cacheWrite5mNanoUsd: number
  readonly cacheWrite1hNanoUsd: number
  readonly outputNanoUsd: number
  /** On top, once a call. */
  readonly callNanoUsd: number
}

/** What models cost. */
export interface Prices {
  /** What this usage costs, by the prices of the moment of the request's admission. */
  price(target: Target, usage: Usage, atMs: number): Cost
  /** Upper bounds for a call with up to so many input tokens. */
  rates(target: Target, inputTokens: number, atMs: number): TokenRates
}

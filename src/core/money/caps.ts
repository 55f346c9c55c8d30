import type { Usage } from '../reply/usage.ts'
import type { Caller } from '../request/caller.ts'
import type { Target } from '../request/exchange.ts'

/** A limit of spending in a window of the UTC calendar. */
export interface Cap {
  /** Owner of the money: `key:…`, `user:…`, `instance`. */
  readonly scope: string
  readonly period: 'day' | 'month'
  readonly limitNanoUsd: number
}

/** Spending limits of a caller. */
export interface Caps {
  /** For one request; `undefined`: no limit. */
  readonly perRequestNanoUsd: number | undefined
  readonly windows: readonly Cap[]
}

/** Returns the caps that the operator, and the key itself, have set for a caller. */
export type CapsOf = (caller: Caller) => Caps

/** Cost of a call. */
export interface Cost {
  readonly costNanoUsd: number
  /** The least certain of the prices in it. */
  readonly source: 'operator' | 'catalogue' | 'ceiling'
  readonly matched: string | undefined
}

/** Upper bounds of a call's price, in nano-USD a token. */
export interface TokenRates {
  readonly inputNanoUsd: number
  readonly cacheWrite5mNanoUsd: number
  readonly cacheWrite1hNanoUsd: number
  readonly outputNanoUsd: number
  /** Added once a call. */
  readonly callNanoUsd: number
}

/** Prices of models. */
export interface Prices {
  /** Returns the cost of a usage, by the prices at the moment of the request's admission. */
  price(target: Target, usage: Usage, atMs: number): Cost
  /** Returns upper bounds for a call with up to so many input tokens. */
  rates(target: Target, inputTokens: number, atMs: number): TokenRates
}

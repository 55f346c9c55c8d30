import type { Caller } from '../request/caller.ts'
import type { BudgetName } from './budget-windows.ts'

/** A limit of spending in a window of the UTC calendar. */
export interface Cap {
  /** Owner of the money: `key:…`, `user:…`, `team:…`, `tag:…`, `instance`. */
  readonly scope: string
  readonly period: 'day' | 'month'
  readonly limitNanoUsd: number
}

/** Limits by budget: nano-USD, turns, tokens, milliseconds. */
export type BudgetLimits = Readonly<Partial<Record<BudgetName, number>>>

/** Spending limits of a caller. */
export interface Caps {
  /** For one request; `undefined`: no limit. */
  readonly perRequestNanoUsd: number | undefined
  readonly windows: readonly Cap[]
  /** Limits of conversations, agents and runs, in the units of the budgets. */
  readonly budgets: BudgetLimits
}

/** Members of an exchange that its caps depend on, in one argument, so that no function between leaves one out. */
export interface CappedRequest {
  readonly caller: Caller
  readonly tags: readonly string[]
}

/**
 * Returns the caps of a request: on its key, its person, its team and each tag that has one, and on the
 * instance, the narrowest first. Every one applies.
 */
export type CapsOf = (request: CappedRequest) => Caps

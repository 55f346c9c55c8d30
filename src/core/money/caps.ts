import type { Caller } from '../request/caller.ts'

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

import type { Entry } from '../entry.ts'
import type { Fact } from './fact.ts'

/** A fact, and whose it is. */
export interface ScopedFact {
  readonly scope: string
  readonly fact: Fact
}

/** Who is told what other processes have changed. */
export interface Follower {
  /** Another process has added a fact; one's own may come back, too. */
  onFact(found: ScopedFact): void
  /** A scope, or every one, is to be forgotten and loaded again. */
  onForget(scope: string | undefined): void
}

/**
 * Where the facts of scopes are kept beyond the memory of one process. Every method rejects when the engine does not answer;
 * it heals by itself. What has been missed meanwhile is made up for by `onForget`.
 */
export interface EntryBook {
  /** The engine's name. */
  readonly engine: 'local' | 'redis' | 'postgres'
  /** Starts to tell changes; before the first `load`. */
  follow(follower: Follower): void
  /** Gives the facts of a scope, portion by portion, each small enough not to hold up the loop. */
  load(scope: string, take: (facts: readonly Fact[]) => void): Promise<void>
  /** Keeps facts. */
  append(scope: string, facts: readonly Fact[]): Promise<void>
  /** Gives up the room of entries that have been replaced, removed or crowded out. */
  drop(scope: string, entries: readonly Entry[]): Promise<void>
  /** Forgets a scope, or all, in every process. */
  clear(scope: string | undefined): Promise<void>
  /** Gives all facts of all scopes, portion by portion: for operators. */
  list(take: (found: readonly ScopedFact[]) => void): Promise<void>
  close(): Promise<void>
}

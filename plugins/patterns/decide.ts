/**
 * DESIGN: decision on injections.
 *
 * The injections of a moment depend on the moments up to it, the operator's patterns and the caller's choice, and on
 * nothing later. So the same conversation gets the same text at the same place on every call, and the provider's prompt
 * cache keeps hitting, without stored state:
 *
 *     call 1   u1+A                       call 2   u1+A  a1  u2              call 3   u1+A  a1  u2  a2  u3+B
 *
 * The budget is tracked along the way: a moment may use the remainder of those before it. An earlier injection is never
 * removed for a later one, regardless of priority.
 */
import type { Choice } from './choice.ts'
import type { Situation } from './condition.ts'
import type { PositionSource } from './pattern-schema.ts'
import type { Pattern, PatternSet } from './pattern-set.ts'
import { type Rendered, render, type VariableSources } from './render.ts'

/** Position of an injected text. */
export type Position = Exclude<PositionSource, 'auto'>

/** Text injected at a moment. */
export interface Injection extends Rendered {
  readonly name: string
  readonly position: Position
  readonly scope: Pattern['scope']
  readonly group: string | undefined
}

/** Pattern that matched and was not injected. */
export interface Dropped {
  readonly name: string
  readonly reason: 'max_patterns' | 'max_tokens' | 'exclusive_group' | 'vars' | 'position'
}

/** Most distinct patterns, and most tokens of them, in a request. */
export interface Limits {
  readonly maxPatterns: number
  readonly maxTokens: number
}

/** Patterns injected so far in a request, against its budget. */
export class Injected {
  readonly #limits: Limits
  readonly #names = new Set<string>()
  /** Names of texts for the whole conversation. */
  readonly #lasting = new Set<string>()
  readonly #heldGroups = new Set<string>()
  #tokens = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  get tokens(): number {
    return this.#tokens
  }

  /** Tests for a pattern that is injected for the whole conversation. */
  isLasting(name: string): boolean {
    return this.#lasting.has(name)
  }

  isHeld(group: string): boolean {
    return this.#heldGroups.has(group)
  }

  /** Adds an injection if it fits; otherwise returns the limit that it exceeds. */
  take({ name, tokens, scope, group }: Injection): Dropped['reason'] | undefined {
    if (!this.#names.has(name) && this.#names.size >= this.#limits.maxPatterns) return 'max_patterns'
    if (this.#tokens + tokens > this.#limits.maxTokens) return 'max_tokens'
    this.#names.add(name)
    this.#tokens += tokens
    if (scope === 'conversation') this.#lasting.add(name)
    if (scope === 'conversation' && group !== undefined) this.#heldGroups.add(group)
    return undefined
  }
}

/** Inputs of a decision. */
export interface DecisionOptions {
  readonly set: PatternSet
  readonly choice: Choice
  readonly situation: Situation
  readonly sources: VariableSources
  readonly injected: Injected
}

/** Injections of one moment, and patterns left out. */
export interface Decision {
  readonly injections: readonly Injection[]
  readonly dropped: readonly Dropped[]
}

/** Decides on one moment, and adds its injections to `injected`. */
export function decide(options: DecisionOptions): Decision {
  const { situation, sources, injected } = options
  const injections: Injection[] = []
  const dropped: Dropped[] = []
  const groups = new Set<string>()
  for (const pattern of candidates(options)) {
    const { name, exclusive_group: group } = pattern
    const drop = (reason: Dropped['reason']) => void dropped.push({ name, reason })
    if (group !== undefined && (groups.has(group) || injected.isHeld(group))) {
      drop('exclusive_group')
      continue
    }
    const position = positionOf(pattern, situation.isFirst)
    const rendered = render(pattern, sources)
    if (position === undefined || rendered === undefined) {
      drop(position === undefined ? 'position' : 'vars')
      continue
    }
    const injection: Injection = { ...rendered, name, position, scope: pattern.scope, group }
    const obstacle = injected.take(injection)
    if (obstacle !== undefined) {
      drop(obstacle)
      continue
    }
    if (group !== undefined) groups.add(group)
    injections.push(injection)
  }
  return { injections, dropped }
}

/** Returns the patterns that match or are requested, by descending priority. */
function candidates({ set, choice, situation, injected }: DecisionOptions): Pattern[] {
  const requested = choice.kind === 'named' ? new Set(choice.names) : undefined
  const scored: { pattern: Pattern; score: number }[] = []
  for (const pattern of set.patterns.values()) {
    if (injected.isLasting(pattern.name)) continue
    const score = requested === undefined ? pattern.score(situation) : Number(requested.has(pattern.name))
    if (score > 0) scored.push({ pattern, score })
  }
  scored.sort((a, b) => b.pattern.priority - a.pattern.priority || b.score - a.score || compare(a, b))
  return scored.map(({ pattern }) => pattern)
}

function compare(a: { pattern: Pattern }, b: { pattern: Pattern }): number {
  return a.pattern.name < b.pattern.name ? -1 : 1
}

/**
 * Returns the position of the pattern's text; `undefined` for a system text that comes too late: it would invalidate
 * the whole prompt cache.
 */
function positionOf({ position, scope }: Pattern, isFirst: boolean): Position | undefined {
  if (position === 'auto') return scope === 'conversation' && isFirst ? 'system-append' : 'user-append'
  return position === 'system-append' && !isFirst ? undefined : position
}

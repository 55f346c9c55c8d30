/**
 * DESIGN: what is injected where.
 *
 * What a moment of the conversation is given depends on the moments up to it, the operator's patterns and the caller's
 * choice, and on nothing that comes later. So the same conversation gets the same text at the same place on every call,
 * and the provider's prompt cache keeps hitting, without a session being stored:
 *
 *     call 1   u1+A                       call 2   u1+A  a1  u2              call 3   u1+A  a1  u2  a2  u3+B
 *
 * The budget is kept along the way: a moment may have what those before it have left. An earlier injection is never
 * taken back for a later one, however much more important.
 */
import type { Choice } from './choice.ts'
import type { Situation } from './condition.ts'
import type { PositionSource } from './pattern-schema.ts'
import type { Pattern, PatternSet } from './pattern-set.ts'
import { type Rendered, render, type VariableSources } from './render.ts'

/** Where a text goes. */
export type Position = Exclude<PositionSource, 'auto'>

/** A text that a moment is given. */
export interface Injection extends Rendered {
  readonly name: string
  readonly position: Position
  readonly scope: Pattern['scope']
  readonly group: string | undefined
}

/** A pattern that was to be injected and is not. */
export interface Dropped {
  readonly name: string
  readonly reason: 'max_patterns' | 'max_tokens' | 'exclusive_group' | 'vars' | 'position'
}

/** Most distinct patterns, and most tokens of them, in a request. */
export interface Limits {
  readonly maxPatterns: number
  readonly maxTokens: number
}

/** What the moments so far have been given. */
export class Standing {
  readonly #limits: Limits
  readonly #names = new Set<string>()
  /** Of texts for the whole conversation. */
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

  /** Whether the pattern stands there for the whole conversation. */
  isLasting(name: string): boolean {
    return this.#lasting.has(name)
  }

  isHeld(group: string): boolean {
    return this.#heldGroups.has(group)
  }

  /** Takes an injection in if it fits; otherwise says what it does not fit into. */
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

/** What a decision is made from. */
export interface DecisionOptions {
  readonly set: PatternSet
  readonly choice: Choice
  readonly situation: Situation
  readonly sources: VariableSources
  readonly standing: Standing
}

/** What one moment is given, and what it is not. */
export interface Decision {
  readonly injections: readonly Injection[]
  readonly dropped: readonly Dropped[]
}

/** Decides about one moment, and takes what it gives into the standing. */
export function decide(options: DecisionOptions): Decision {
  const { situation, sources, standing } = options
  const injections: Injection[] = []
  const dropped: Dropped[] = []
  const groups = new Set<string>()
  for (const pattern of candidates(options)) {
    const { name, exclusive_group: group } = pattern
    const drop = (reason: Dropped['reason']) => void dropped.push({ name, reason })
    if (group !== undefined && (groups.has(group) || standing.isHeld(group))) {
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
    const obstacle = standing.take(injection)
    if (obstacle !== undefined) {
      drop(obstacle)
      continue
    }
    if (group !== undefined) groups.add(group)
    injections.push(injection)
  }
  return { injections, dropped }
}

/** The patterns that the moment asks for, the most important first. */
function candidates({ set, choice, situation, standing }: DecisionOptions): Pattern[] {
  const asked = choice.kind === 'named' ? new Set(choice.names) : undefined
  const scored: { pattern: Pattern; score: number }[] = []
  for (const pattern of set.patterns.values()) {
    if (standing.isLasting(pattern.name)) continue
    const score = asked === undefined ? pattern.score(situation) : Number(asked.has(pattern.name))
    if (score > 0) scored.push({ pattern, score })
  }
  scored.sort((a, b) => b.pattern.priority - a.pattern.priority || b.score - a.score || compare(a, b))
  return scored.map(({ pattern }) => pattern)
}

function compare(a: { pattern: Pattern }, b: { pattern: Pattern }): number {
  return a.pattern.name < b.pattern.name ? -1 : 1
}

/** Where the pattern's text goes; `undefined` for a system text that comes too late: it would cost the whole cache. */
function positionOf({ position, scope }: Pattern, isFirst: boolean): Position | undefined {
  if (position === 'auto') return scope === 'conversation' && isFirst ? 'system-append' : 'user-append'
  return position === 'system-append' && !isFirst ? undefined : position
}

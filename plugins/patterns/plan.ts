import type { Exchange } from 'turnpike/plugin'
import { assertKnown, type Choice } from './choice.ts'
import type { Circumstances, Situation } from './condition.ts'
import { type Dropped, decide, Injected, type Limits } from './decide.ts'
import type { Library } from './library.ts'
import { MatchText } from './match-text.ts'
import type { Memory } from './memory.ts'
import { type Moment, momentsOf, systemText } from './moments.ts'
import type { PatternSet } from './pattern-set.ts'
import type { Placement } from './place.ts'

/** Injections of a request. */
export interface Plan {
  readonly placements: readonly Placement[]
  readonly names: readonly string[]
  readonly tokens: number
  /** Patterns left out at the newest moment. */
  readonly dropped: readonly Dropped[]
}

/** Inputs of a plan. */
export interface PlanOptions {
  readonly library: Library
  readonly memory: Memory
  readonly choice: Choice
  readonly limits: Limits
  /** Values of the variables from the configuration. */
  readonly config: Readonly<Record<string, string>>
}

/**
 * Plans the conversation moment by moment. Remembered injections are repeated; only the newest message, and moments
 * without memory, are decided.
 */
export function planFor(exchange: Exchange, { library, memory, choice, limits, config }: PlanOptions): Plan {
  const { request, headers } = exchange
  const injected = new Injected(limits)
  const circumstances = circumstancesOf(exchange)
  const moments = momentsOf(request, exchange.caller.scope)
  const placements: Placement[] = []
  let dropped: readonly Dropped[] = []
  let set = library.current
  for (const [turn, moment] of moments.entries()) {
    const known = memory.recall(moment.key)
    // A conversation keeps the patterns that it began with.
    if (known !== undefined && (turn > 0 || !moment.isLast)) set = library.at(known.version)
    if (known !== undefined && !moment.isLast) {
      placements.push({ index: moment.index, injections: known.injections.filter((one) => !injected.take(one)) })
      continue
    }
    const chosenFrom = hasAll(set, choice) ? set : library.current
    assertKnown(choice, chosenFrom)
    const text = textsFor({ moments, turn, exchange, set: chosenFrom })
    const situation = { text, turn, isFirst: moment.isFirst, circumstances }
    const decision = decide({ set: chosenFrom, choice, situation, sources: { headers, config }, injected })
    memory.remember(moment.key, { version: set.version, injections: decision.injections })
    placements.push({ index: moment.index, injections: decision.injections })
    dropped = decision.dropped
  }
  return { placements, names: injected.names, tokens: injected.tokens, dropped }
}

/** Tests for a set that has every pattern of the choice: one requested by name may be newer than the conversation. */
function hasAll({ patterns }: PatternSet, choice: Choice): boolean {
  return choice.kind !== 'named' || choice.names.every((name) => patterns.has(name))
}

interface TextsOptions {
  readonly moments: readonly Moment[]
  readonly turn: number
  readonly exchange: Exchange
  readonly set: PatternSet
}

/** Returns lazy texts of a moment. */
function textsFor({ moments, turn, exchange, set }: TextsOptions): Situation['text'] {
  const made = new Map<string, MatchText>()
  const make = {
    last_user: () => moments[turn]?.text ?? '',
    first_user: () => moments[0]?.text ?? '',
    any_user: () =>
      moments
        .slice(0, turn + 1)
        .map(({ text }) => text)
        .join('\n'),
    system: () => systemText(exchange.request),
  }
  return (where) => {
    const text = made.get(where) ?? new MatchText(make[where](), set.index)
    made.set(where, text)
    return text
  }
}

function circumstancesOf({ request, target, headers }: Exchange): Circumstances {
  const tools = request.field('tools') as readonly { name?: string | null }[] | null | undefined // safe: checked by the schema
  return {
    models: [target.model, `${target.provider}/${target.model}`],
    tools: (tools ?? []).flatMap(({ name }) => name ?? []),
    headers,
    metadata: (request.field('metadata') ?? {}) as Record<string, unknown>, // safe: checked by the schema
  }
}

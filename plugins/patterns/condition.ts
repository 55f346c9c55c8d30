import { compileGlobs } from './globs.ts'
import { compileKeywords } from './keywords.ts'
import type { MatchText } from './match-text.ts'
import type { ConditionSource } from './pattern-schema.ts'
import { compileRegex } from './regex.ts'

/** Properties of a request besides its texts. */
export interface Circumstances {
  /** Model names: with and without the provider. */
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly headers: NodeJS.Dict<string | string[]>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Position in a conversation; text behind it is not available. */
export interface Situation {
  text(where: NonNullable<ConditionSource['where']>): MatchText
  /** Number of earlier user messages. */
  readonly turn: number
  /** True at the beginning of the conversation. */
  readonly isFirst: boolean
  /** `undefined` in a pattern's own tests, which concern texts alone. */
  readonly circumstances: Circumstances | undefined
}

/** Score of a condition, from 0 (does not hold) to 1. */
export type Condition = (situation: Situation) => number

/** Default of the least score with which an example counts. */
const MIN_SCORE = 0.5
/** Default of the least share of the best pattern's score with which another also counts. */
const MARGIN = 0.85

/** Owner of a condition, and its score while the circumstances are unknown. */
interface ConditionOptions {
  /** Owner of the condition's examples in the index. */
  readonly owner: string
  readonly unknown: 0 | 1
}

/** Compiles a condition. Throws an `Error` that names the faulty expression. */
export function compileCondition(source: ConditionSource, options: ConditionOptions): Condition {
  const parts = [...textParts(source, options), ...circumstanceParts(source, options)]
  return (situation) => {
    let score = 1
    for (const part of parts) {
      score = Math.min(score, part(situation))
      if (score === 0) return 0
    }
    return score
  }
}

function* textParts(source: ConditionSource, options: ConditionOptions): Generator<Condition> {
  const { any, regex, keywords, examples, where = 'last_user' } = source
  if (keywords !== undefined) {
    const test = compileKeywords(keywords)
    yield (situation) => Number(test(situation.text(where)))
  }
  if (regex !== undefined) {
    const tests = regex.map((source) => compileRegex(source))
    yield (situation) => Number(tests.some((test) => test(situation.text(where))))
  }
  if (examples !== undefined) yield resembles(source, options)
  if (any !== undefined) {
    const branches = any.map((branch) => compileCondition({ ...branch, where: branch.where ?? where }, options))
    yield (situation) => Math.max(...branches.map((branch) => branch(situation)))
  }
}

function resembles(
  { where = 'last_user', min_score = MIN_SCORE, margin = MARGIN }: ConditionSource,
  { owner }: ConditionOptions,
): Condition {
  return (situation) => {
    const text = situation.text(where)
    const score = text.scores.get(owner) ?? 0
    return score >= min_score && score >= margin * text.bestScoreBeside(owner) ? score : 0
  }
}

function* circumstanceParts(source: ConditionSource, { unknown }: ConditionOptions): Generator<Condition> {
  const { models, tools_any, headers, metadata, min_turn } = source
  const given = (holds: (circumstances: Circumstances, turn: number) => boolean): Condition => {
    return ({ circumstances, turn }) => (circumstances === undefined ? unknown : Number(holds(circumstances, turn)))
  }
  if (models !== undefined) {
    const fits = compileGlobs(models)
    yield given((known) => known.models.some(fits))
  }
  if (tools_any !== undefined) {
    const fits = compileGlobs(tools_any)
    yield given((known) => known.tools.some(fits))
  }
  for (const [name, globs] of Object.entries(headers ?? {})) {
    const fits = compileGlobs(globs)
    yield given((known) => [known.headers[name] ?? []].flat().some(fits))
  }
  for (const [name, globs] of Object.entries(metadata ?? {})) {
    const fits = compileGlobs(globs)
    yield given(({ metadata: values }) => Object.hasOwn(values, name) && fits(String(values[name])))
  }
  if (min_turn !== undefined) yield given((_, turn) => turn >= min_turn)
}

/** Returns the examples of a condition, including those of its branches. */
export function examplesOf({ examples = [], any = [] }: ConditionSource): string[] {
  return [...examples, ...any.flatMap(examplesOf)]
}

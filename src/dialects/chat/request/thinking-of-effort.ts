/**
 * DESIGN: from `reasoning_effort` to `thinking` and `output_config.effort`.
 *
 *     Claude from 4.6 on      thinking adaptive, and the effort's own word
 *     Claude 3.7 to 4.5       thinking with a budget, smaller than max_tokens
 *     older Claude            nothing: the effort is dropped
 *     other models            thinking with a budget: what other providers' translations read
 *
 * Anthropic refuses thinking with a tool that must be called, and thinking with a budget in the middle of a tool loop
 * whose first thoughts are not there (they never are: chat completions have no place for their signature). An answer
 * without thoughts is better than none, so there the effort is dropped.
 */

import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { Effort } from '../request-schema.ts'
import { objectAt } from './chat-fault.ts'
import { type ClaudeTraits, claudeTraitsOf } from './claude-traits.ts'
import { type ReasoningWish, toReasoningWish } from './reasoning-wish.ts'

/** What of the rest of the request decides about thinking. */
export interface Circumstances {
  readonly model: string
  readonly maxTokens: number
  /** Whether the client left max_tokens to the gateway. */
  readonly isAssumed: boolean
  /** Whether `tool_choice` makes the model call a tool. */
  readonly forcesTool: boolean
  /** Whether the model goes on with a turn that it began without thinking: after tool results, or a prefill. */
  readonly isMidTurn: boolean
}

/** The fields of a Messages request that a wish for reasoning becomes. */
export interface ThinkingFields {
  readonly thinking?: JsonObject
  readonly effort?: Effort
  /** `max_tokens`, which is raised when the gateway chose it and the budget does not fit. */
  readonly maxTokens: number
}

/** Anthropic's least budget; a smaller one is refused. */
const LEAST_BUDGET_TOKENS = 1024
/** What is left for the answer when the budget decides about `max_tokens`: small enough for models that end at 32,000. */
const ANSWER_TOKENS = 4096
const LOW_BUDGET_TOKENS = 2048
const MEDIUM_BUDGET_TOKENS = 8192
const HIGH_BUDGET_TOKENS = 24_576

/** Thinking as `thinking`, `reasoning_effort` or `reasoning` of a chat body ask for it, each before the next. */
export function toThinkingFields(
  body: JsonObject,
  circumstances: Circumstances,
  droppedFields: DroppedFields,
): ThinkingFields {
  const { maxTokens } = circumstances
  const wish = toReasoningWish(body, droppedFields)
  if (body.thinking !== undefined && body.thinking !== null) {
    if (wish) droppedFields.drop(wish.field)
    return givenThinking(objectAt(body.thinking, 'thinking'), circumstances)
  }
  if (wish === undefined) return { maxTokens }
  const fields = wishedThinking(wish, circumstances)
  if (fields.isShort) droppedFields.drop(wish.field)
  return fields
}

/** Thinking that the client has spelt in Messages' own words, an extension of many servers. */
function givenThinking(thinking: JsonObject, { maxTokens, isAssumed }: Circumstances): ThinkingFields {
  const { budget_tokens: budget } = thinking
  return { thinking, maxTokens: isAssumed && typeof budget === 'number' ? roomFor(budget, maxTokens) : maxTokens }
}

function roomFor(budgetTokens: number, maxTokens: number): number {
  return Math.max(maxTokens, Math.ceil(budgetTokens) + ANSWER_TOKENS)
}

/** The fields, and whether they fall short of the wish. */
interface Outcome extends ThinkingFields {
  readonly isShort: boolean
}

function wishedThinking(wish: ReasoningWish, circumstances: Circumstances): Outcome {
  const { model, maxTokens } = circumstances
  const traits = claudeTraitsOf(model)
  if (wish.effort === 'none') return { ...withoutThinking(traits), maxTokens }
  if (traits?.thinking === 'none') return { maxTokens, isShort: true }
  if (traits?.thinking === 'adaptive') return adaptive(wish, traits, circumstances)
  const isBarred = traits !== undefined && (circumstances.forcesTool || circumstances.isMidTurn)
  return isBarred ? { maxTokens, isShort: true } : budgeted(wish, circumstances)
}

/** A model that cannot stop thinking is asked to think as little as it can. */
function withoutThinking(traits: ClaudeTraits | undefined): Omit<Outcome, 'maxTokens'> {
  if (traits?.thinking === 'none') return { isShort: false }
  if (traits && !traits.canStopThinking) return { effort: 'low', isShort: true }
  return { thinking: { type: 'disabled' }, isShort: false }
}

function adaptive(wish: ReasoningWish, { takesXhigh }: ClaudeTraits, circumstances: Circumstances): Outcome {
  const { maxTokens, forcesTool } = circumstances
  const effort = wish.effort ?? (wish.budgetTokens === undefined ? undefined : effortOfBudget(wish.budgetTokens))
  return {
    ...(!forcesTool && { thinking: { type: 'adaptive' } }),
    ...(effort !== undefined && { effort: nearestEffort(effort, takesXhigh) }),
    maxTokens,
    isShort: forcesTool,
  }
}

/** The effort that a budget of thinking tokens comes to, where there is no place for a number. */
export function effortOfBudget(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens < LOW_BUDGET_TOKENS * 2) return 'low'
  return budgetTokens < MEDIUM_BUDGET_TOKENS * 2 ? 'medium' : 'high'
}

function nearestEffort(effort: Effort, takesXhigh: boolean): Effort {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && !takesXhigh ? 'high' : effort
}

function budgeted(wish: ReasoningWish, { maxTokens, isAssumed }: Circumstances): Outcome {
  const wished = Math.max(wish.budgetTokens ?? budgetOf(wish.effort), LEAST_BUDGET_TOKENS)
  if (isAssumed) return { ...enabled(wished), maxTokens: roomFor(wished, maxTokens), isShort: false }
  const budget = Math.min(wished, maxTokens - 1)
  return budget < LEAST_BUDGET_TOKENS ? { maxTokens, isShort: true } : { ...enabled(budget), maxTokens, isShort: false }
}

function enabled(budgetTokens: number): { thinking: JsonObject } {
  return { thinking: { type: 'enabled', budget_tokens: budgetTokens } }
}

function budgetOf(effort: Effort | undefined): number {
  if (effort === 'minimal' || effort === 'low') return LOW_BUDGET_TOKENS
  return effort === 'medium' || effort === undefined ? MEDIUM_BUDGET_TOKENS : HIGH_BUDGET_TOKENS
}

/**
 * DESIGN: from `reasoning_effort` to `thinking` and `output_config.effort`.
 *
 *     Claude from 4.6 on      adaptive thinking, and the same effort
 *     Claude 3.7 to 4.5       thinking with a budget, smaller than max_tokens
 *     older Claude            nothing: the effort is dropped
 *     other models            thinking with a budget: what other providers' translations read
 *
 * Anthropic refuses thinking with a forced tool, and thinking with a budget in the middle of a tool loop whose first
 * thinking is missing (always: chat completions have no field for its signature). An answer
 * without thinking is better than none, so there the effort is dropped.
 */

import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { Effort } from '../request-schema.ts'
import { objectAt } from './chat-fault.ts'
import { type ClaudeTraits, claudeTraitsOf } from './claude-traits.ts'
import { type RequestedReasoning, toRequestedReasoning } from './requested-reasoning.ts'

/** Parts of the request that affect its thinking. */
export interface Circumstances {
  readonly model: string
  readonly maxTokens: number
  /** True when the client left max_tokens to the gateway. */
  readonly isAssumed: boolean
  /** True when `tool_choice` forces a tool call. */
  readonly forcesTool: boolean
  /** True when the model continues a turn that it began without thinking: after tool results, or a prefill. */
  readonly isMidTurn: boolean
}

/** Fields of a Messages request for requested reasoning. */
export interface ThinkingFields {
  readonly thinking?: JsonObject
  readonly effort?: Effort
  /** `max_tokens`, raised when the gateway chose it and the budget does not fit. */
  readonly maxTokens: number
}

/** Anthropic's lowest budget; a smaller one is refused. */
const LEAST_BUDGET_TOKENS = 1024
/** Tokens for the answer when the budget determines `max_tokens`: small enough for models with a limit of 32,000. */
const ANSWER_TOKENS = 4096
const LOW_BUDGET_TOKENS = 2048
const MEDIUM_BUDGET_TOKENS = 8192
const HIGH_BUDGET_TOKENS = 24_576

/** Translates `thinking`, `reasoning_effort` or `reasoning` of a chat body, in this order of precedence. */
export function toThinkingFields(
  body: JsonObject,
  circumstances: Circumstances,
  droppedFields: DroppedFields,
): ThinkingFields {
  const { maxTokens } = circumstances
  const requested = toRequestedReasoning(body, droppedFields)
  if (body.thinking !== undefined && body.thinking !== null) {
    if (requested) droppedFields.drop(requested.field)
    return givenThinking(objectAt(body.thinking, 'thinking'), circumstances)
  }
  if (requested === undefined) return { maxTokens }
  const fields = requestedThinking(requested, circumstances)
  if (fields.isShort) droppedFields.drop(requested.field)
  return fields
}

/** Returns thinking in Messages' own form, an extension of many servers. */
function givenThinking(thinking: JsonObject, { maxTokens, isAssumed }: Circumstances): ThinkingFields {
  const { budget_tokens: budget } = thinking
  return { thinking, maxTokens: isAssumed && typeof budget === 'number' ? roomFor(budget, maxTokens) : maxTokens }
}

function roomFor(budgetTokens: number, maxTokens: number): number {
  return Math.max(maxTokens, Math.ceil(budgetTokens) + ANSWER_TOKENS)
}

/** The fields, and whether they fall short of the requested reasoning. */
interface Outcome extends ThinkingFields {
  readonly isShort: boolean
}

function requestedThinking(requested: RequestedReasoning, circumstances: Circumstances): Outcome {
  const { model, maxTokens } = circumstances
  const traits = claudeTraitsOf(model)
  if (requested.effort === 'none') return { ...withoutThinking(traits), maxTokens }
  if (traits?.thinking === 'none') return { maxTokens, isShort: true }
  if (traits?.thinking === 'adaptive') return adaptive(requested, traits, circumstances)
  const isBarred = traits !== undefined && (circumstances.forcesTool || circumstances.isMidTurn)
  return isBarred ? { maxTokens, isShort: true } : budgeted(requested, circumstances)
}

/** Returns the lowest effort for a model that cannot stop thinking. */
function withoutThinking(traits: ClaudeTraits | undefined): Omit<Outcome, 'maxTokens'> {
  if (traits?.thinking === 'none') return { isShort: false }
  if (traits && !traits.canStopThinking) return { effort: 'low', isShort: true }
  return { thinking: { type: 'disabled' }, isShort: false }
}

function adaptive(requested: RequestedReasoning, { takesXhigh }: ClaudeTraits, circumstances: Circumstances): Outcome {
  const { maxTokens, forcesTool } = circumstances
  const effort =
    requested.effort ?? (requested.budgetTokens === undefined ? undefined : effortOfBudget(requested.budgetTokens))
  return {
    ...(!forcesTool && { thinking: { type: 'adaptive' } }),
    ...(effort !== undefined && { effort: nearestEffort(effort, takesXhigh) }),
    maxTokens,
    isShort: forcesTool,
  }
}

/** Returns the effort nearest to a budget of thinking tokens, for shapes without a number. */
export function effortOfBudget(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens < LOW_BUDGET_TOKENS * 2) return 'low'
  return budgetTokens < MEDIUM_BUDGET_TOKENS * 2 ? 'medium' : 'high'
}

function nearestEffort(effort: Effort, takesXhigh: boolean): Effort {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && !takesXhigh ? 'high' : effort
}

function budgeted(requested: RequestedReasoning, { maxTokens, isAssumed }: Circumstances): Outcome {
  const requestedTokens = Math.max(requested.budgetTokens ?? budgetOf(requested.effort), LEAST_BUDGET_TOKENS)
  if (isAssumed) return { ...enabled(requestedTokens), maxTokens: roomFor(requestedTokens, maxTokens), isShort: false }
  const budget = Math.min(requestedTokens, maxTokens - 1)
  return budget < LEAST_BUDGET_TOKENS ? { maxTokens, isShort: true } : { ...enabled(budget), maxTokens, isShort: false }
}

function enabled(budgetTokens: number): { thinking: JsonObject } {
  return { thinking: { type: 'enabled', budget_tokens: budgetTokens } }
}

function budgetOf(effort: Effort | undefined): number {
  if (effort === 'minimal' || effort === 'low') return LOW_BUDGET_TOKENS
  return effort === 'medium' || effort === undefined ? MEDIUM_BUDGET_TOKENS : HIGH_BUDGET_TOKENS
}

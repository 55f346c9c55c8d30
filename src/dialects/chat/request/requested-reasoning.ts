import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { type Effort, isEffort } from '../request-schema.ts'
import { ChatFault, countAt, flagAt, objectAt } from './chat-fault.ts'
import { dropLeftovers } from './json-value.ts'

/** Reasoning that a chat client requests. */
export interface RequestedReasoning {
  /** The source field, reported when it is dropped. */
  readonly field: 'reasoning_effort' | 'reasoning'
  /** `undefined` when it is left to the model or the budget. */
  readonly effort?: Effort
  readonly budgetTokens?: number
}

const MEMBERS = { known: new Set(['effort', 'max_tokens', 'enabled']), place: 'reasoning' }

/** Reads `reasoning_effort`, or else OpenRouter's `reasoning`; `undefined` when there is neither. Throws `ChatFault`. */
export function toRequestedReasoning(body: JsonObject, droppedFields: DroppedFields): RequestedReasoning | undefined {
  const effort = effortAt(body.reasoning_effort, 'reasoning_effort')
  if (body.reasoning === undefined || body.reasoning === null) return effort && { field: 'reasoning_effort', effort }
  const reasoning = objectAt(body.reasoning, 'reasoning')
  dropLeftovers(reasoning, MEMBERS, droppedFields)
  const routed = routedReasoning(reasoning)
  if (effort === undefined) return routed
  if (routed && routed.effort !== effort) droppedFields.drop('reasoning')
  return { field: 'reasoning_effort', effort }
}

function routedReasoning(reasoning: JsonObject): RequestedReasoning | undefined {
  const field = 'reasoning'
  const effort = effortAt(reasoning.effort, 'reasoning.effort')
  const budgetTokens = countAt(reasoning.max_tokens, 'reasoning.max_tokens')
  const isEnabled = flagAt(reasoning.enabled, 'reasoning.enabled')
  if (isEnabled === false) return { field, effort: 'none' }
  if (budgetTokens !== undefined) return { field, budgetTokens }
  if (effort !== undefined) return { field, effort }
  return isEnabled ? { field } : undefined
}

function effortAt(value: unknown, path: string): Effort | undefined {
  if (value === undefined || value === null) return undefined
  if (!isEffort(value)) throw new ChatFault(path, 'none, minimal, low, medium, high, xhigh or max')
  return value
}

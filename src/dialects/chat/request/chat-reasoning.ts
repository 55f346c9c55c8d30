import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import type { ChatHabits, RequestedEffort } from '../to-chat-request.ts'
import { dropLeftovers, isNothing } from './json-value.ts'
import { effortOfBudget } from './thinking-of-effort.ts'

/** Inputs of the reasoning effort. */
export interface ReasoningOptions {
  readonly model: string
  readonly habits: ChatHabits
  readonly requestedEffort?: RequestedEffort | undefined
  readonly droppedFields: DroppedFields
}

/** Values of `output_config.effort` as values of `reasoning_effort` that every provider knows. */
const EFFORTS = new Map<unknown, string>([
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
])
const THINKING = { known: new Set(['type', 'budget_tokens']), place: 'thinking' }

/**
 * Returns `reasoning_effort` for `thinking` and `output_config.effort`; `undefined` when the model decides or accepts none. The
 * requested one is kept where the model has it, and reported where it does not.
 */
export function toReasoningEffort(request: RequestDocument, options: ReasoningOptions): string | undefined {
  const { model, habits, requestedEffort, droppedFields } = options
  const word = toCommonEffort(request, options)
  if (word === undefined || requestedEffort === undefined || requestedEffort.word === word) return word
  if (habits.otherEfforts?.get(requestedEffort.word)?.test(model)) return requestedEffort.word
  droppedFields.drop(requestedEffort.field)
  return word
}

function toCommonEffort(request: RequestDocument, options: ReasoningOptions): string | undefined {
  const { droppedFields } = options
  const thinking = objectOf(request.field('thinking'))
  const effort = objectOf(request.field('output_config')).effort
  if (thinking.type === 'disabled' || !takesEffort(options)) return addDroppedNames({ thinking, effort }, options)
  dropLeftovers(thinking, THINKING, droppedFields)
  const word = EFFORTS.get(effort)
  if (word !== undefined) return word
  if (!isNothing(effort)) droppedFields.drop('output_config.effort')
  const { type, budget_tokens: budget } = thinking
  if (type === 'enabled') return typeof budget === 'number' ? effortOfBudget(budget) : undefined
  if (type !== undefined && type !== 'adaptive') droppedFields.drop('thinking')
  return undefined
}

/** Returns true when the model accepts an effort: of OpenAI's models those that reason, which have fixed sampling. */
function takesEffort({ model, habits }: ReasoningOptions): boolean {
  return habits.reasoningEffort && (habits.fixedSampling?.test(model) ?? true)
}

/** Reports disabled thinking as dropped for models that always reason; for others it is the default. */
function addDroppedNames(
  { thinking, effort }: { thinking: JsonObject; effort: unknown },
  options: ReasoningOptions,
): undefined {
  const { model, habits, droppedFields } = options
  const isLost = thinking.type !== 'disabled' || habits.fixedSampling?.test(model)
  if (thinking.type !== undefined && isLost) droppedFields.drop('thinking')
  if (!isNothing(effort)) droppedFields.drop('output_config.effort')
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

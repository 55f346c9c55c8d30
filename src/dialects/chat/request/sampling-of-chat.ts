import type { JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { countAt, numberAt, textAt } from './chat-fault.ts'
import { claudeTraitsOf } from './claude-traits.ts'

/** `temperature`, `top_p` and `top_k` of a Messages request. */
export interface Sampling {
  readonly temperature: number | undefined
  readonly top_p: number | undefined
  readonly top_k: number | undefined
}

/** The lowest `top_p` that Anthropic accepts together with thinking. */
const LEAST_TOP_P_WITH_THINKING = 0.95

/**
 * Returns the client's sampling without values that a Claude model would refuse: models with fixed sampling accept only
 * default values, and with `thinking` neither a temperature other than 1 nor top_k. Throws `ChatFault`.
 */
export function toSampling(body: JsonObject, thinking: JsonObject | undefined, droppedFields: DroppedFields): Sampling {
  const traits = claudeTraitsOf(textAt(body.model, 'model'))
  const isFixed = traits?.hasFixedSampling === true
  const isThinking = traits !== undefined && (thinking?.type === 'enabled' || thinking?.type === 'adaptive')
  const leastTopP = isFixed ? 1 : isThinking ? LEAST_TOP_P_WITH_THINKING : 0
  const given = {
    temperature: numberAt(body.temperature, 'temperature', [0, 2]),
    top_p: numberAt(body.top_p, 'top_p', [0, 1]),
    top_k: countAt(body.top_k, 'top_k'),
  }
  const keep = (name: keyof Sampling, fits: boolean) => {
    if (given[name] === undefined || fits) return given[name]
    droppedFields.drop(name)
    return undefined
  }
  return {
    temperature: keep('temperature', !(isFixed || isThinking) || given.temperature === 1),
    top_p: keep('top_p', (given.top_p ?? 1) >= leastTopP),
    top_k: keep('top_k', !(isFixed || isThinking)),
  }
}

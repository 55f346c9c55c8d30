import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import { listOf } from './narrow.ts'

/** The one choice that is translated: the Messages shape has a single answer. */
interface FirstChoice {
  readonly choice: JsonObject
  /** Its index in the array `choices`. */
  readonly position: number
}

/** Returns the choice of index 0 of a completion or chunk, or `undefined`. A choice without an index counts as index 0. */
export function firstChoiceOf({ choices }: JsonObject): FirstChoice | undefined {
  const list = listOf(choices)
  for (let position = 0; position < list.length; position++) {
    const choice = list[position]
    if (isObject(choice) && (choice.index ?? 0) === 0) return { choice, position }
  }
  return undefined
}

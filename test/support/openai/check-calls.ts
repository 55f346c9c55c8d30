import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import type { PartRules } from './check-parts.ts'
import {
  type ChatRejection,
  emptyArray,
  invalid,
  missingParameter,
  unknownParameter,
  unsupportedChoice,
  wrongType,
} from './rejection.ts'

const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const LONGEST_ID = 40

/** Returns the first rule that the calls of an assistant message break. A server that ignores null treats it as no calls. */
export function checkCalls(message: JsonObject, at: string, rules: PartRules): ChatRejection | undefined {
  const { tool_calls: calls, function_call: legacy } = message
  if (legacy !== undefined && legacy !== null) {
    const refused = checkFunction(legacy, `${at}.function_call`)
    if (refused) return refused
  }
  if (calls === undefined || (calls === null && !rules.refusesUnknownMembers)) return undefined
  if (!Array.isArray(calls)) return wrongType(`${at}.tool_calls`, 'an array of objects', calls)
  if (calls.length === 0) return rules.refusesUnknownMembers ? emptyArray(`${at}.tool_calls`) : undefined
  for (const [index, call] of calls.entries()) {
    const refused = checkCall(call, `${at}.tool_calls[${index}]`, rules)
    if (refused) return refused
  }
  return undefined
}

/** Refuses a function name that is absent, too long or has other characters than letters, digits, `_` and `-`. */
export function checkFunctionName(name: unknown, at: string): ChatRejection | undefined {
  if (name === undefined) return missingParameter(at)
  if (typeof name === 'string' && FUNCTION_NAME.test(name)) return undefined
  const message = `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '${FUNCTION_NAME.source}'.`
  return invalid(message, { param: at, code: 'invalid_value' })
}

function checkCall(call: unknown, at: string, rules: PartRules): ChatRejection | undefined {
  if (!isJsonObject(call)) return wrongType(at, 'an object', call)
  const { id, type } = call
  if (typeof id !== 'string') return missingParameter(`${at}.id`)
  if (id.length > LONGEST_ID) return longId(`${at}.id`, id.length)
  if (type === undefined) return missingParameter(`${at}.type`)
  if (type !== 'function' && type !== 'custom') return unsupportedChoice(`${at}.type`, type, ['function', 'custom'])
  const unknown = Object.keys(call).find((name) => !['id', 'type', type].includes(name))
  if (unknown !== undefined && rules.refusesUnknownMembers) return unknownParameter(`${at}.${unknown}`)
  if (type === 'function') return checkFunction(call.function, `${at}.function`)
  return typeof valueAt(call, 'custom.input') === 'string' ? undefined : missingParameter(`${at}.custom.input`)
}

function checkFunction(called: unknown, at: string): ChatRejection | undefined {
  if (!isJsonObject(called)) return wrongType(at, 'an object', called)
  const text = called.arguments
  if (text === undefined) return missingParameter(`${at}.arguments`)
  if (typeof text !== 'string') return wrongType(`${at}.arguments`, 'a string', text)
  return checkFunctionName(called.name, `${at}.name`)
}

function longId(at: string, length: number): ChatRejection {
  const expected = `Expected a string with maximum length ${LONGEST_ID}, but got a string with length ${length} instead.`
  return invalid(`Invalid '${at}': string too long. ${expected}`, { param: at, code: 'string_above_max_length' })
}

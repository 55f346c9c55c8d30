import { isJsonObject, type JsonObject } from '../json.ts'
import {
  type ChatRejection,
  invalid,
  missingParameter,
  unknownParameter,
  unsupportedChoice,
  wrongType,
} from './rejection.ts'
import { findStrictFault } from './strict-schema.ts'

const types = ['text', 'json_object', 'json_schema']
const formatMembers = ['name', 'description', 'schema', 'strict']
const FORMAT_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** Returns the first rule of OpenAI that the response format breaks. */
export function checkResponseFormat({ response_format: format, messages }: JsonObject): ChatRejection | undefined {
  if (!isJsonObject(format)) return undefined
  const { type } = format
  if (type === undefined) return missingParameter('response_format.type')
  if (!types.includes(String(type))) return unsupportedChoice('response_format.type', type, types)
  if (type === 'json_schema') return checkSchema(format.json_schema)
  if (type === 'text' || /json/i.test(JSON.stringify(messages))) return undefined
  const message =
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
  return invalid(message, { param: 'messages' })
}

function checkSchema(format: unknown): ChatRejection | undefined {
  const at = 'response_format.json_schema'
  if (!isJsonObject(format)) return missingParameter(at)
  const unknown = Object.keys(format).find((name) => !formatMembers.includes(name))
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`)
  const { name, schema, strict } = format
  if (name === undefined) return missingParameter(`${at}.name`)
  if (typeof name !== 'string' || !FORMAT_NAME.test(name)) {
    const message = `Invalid '${at}.name': string does not match pattern. Expected a string that matches the pattern '${FORMAT_NAME.source}'.`
    return invalid(message, { param: `${at}.name`, code: 'invalid_value' })
  }
  if (schema === undefined) return strict === true ? missingParameter(`${at}.schema`) : undefined
  if (!isJsonObject(schema)) return wrongType(`${at}.schema`, 'an object', schema)
  const fault = strict === true ? findRootFault(schema) : undefined
  if (fault === undefined) return undefined
  return invalid(`Invalid schema for response_format '${name}': ${fault}`, { param: 'response_format' })
}

function findRootFault(schema: JsonObject): string | undefined {
  if (schema.type === 'object') return findStrictFault(schema)
  return `schema must be a JSON Schema of 'type: "object"', got 'type: "${schema.type ?? 'None'}"'.`
}

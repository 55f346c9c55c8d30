import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import { checkFunctionName } from './check-calls.ts'
import {
  type ChatRejection,
  emptyArray,
  invalid,
  longArray,
  missingParameter,
  unknownParameter,
  unsupportedChoice,
  wrongType,
} from './rejection.ts'
import { findStrictFault } from './strict-schema.ts'

const MOST_TOOLS = 128
const functionMembers = ['name', 'description', 'parameters', 'strict']
const choiceWords = ['none', 'auto', 'required']
const choiceTypes = ['function', 'custom', 'allowed_tools']

/** Returns the first rule of OpenAI that the tools break. */
export function checkTools({ tools }: JsonObject): ChatRejection | undefined {
  if (!Array.isArray(tools)) return undefined
  if (tools.length === 0) return emptyArray('tools')
  if (tools.length > MOST_TOOLS) return longArray('tools', MOST_TOOLS, tools.length)
  for (const [index, tool] of tools.entries()) {
    const refused = checkTool(tool, `tools[${index}]`)
    if (refused) return refused
  }
  return undefined
}

/** Refuses a choice without tools, or of a missing tool. */
export function checkToolChoice(body: JsonObject): ChatRejection | undefined {
  const { tools, tool_choice: choice } = body
  if (!Array.isArray(tools)) {
    const name = ['tool_choice', 'parallel_tool_calls'].find((key) => body[key] !== undefined && body[key] !== null)
    if (name === undefined) return undefined
    return invalid(`Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`, {
      param: name,
    })
  }
  if (choice === undefined || choice === null) return undefined
  if (typeof choice === 'string') {
    return choiceWords.includes(choice) ? undefined : unsupportedChoice('tool_choice', choice, choiceWords)
  }
  const type = valueAt(choice, 'type')
  if (type === undefined) return missingParameter('tool_choice.type')
  if (!choiceTypes.includes(String(type))) return unsupportedChoice('tool_choice.type', type, choiceTypes)
  const absent = chosenNames(choice).find((name) => !tools.some((tool) => nameOf(tool) === name))
  if (absent === undefined) return undefined
  return invalid(`Tool choice '${absent}' not found in 'tools' parameter.`, { param: 'tool_choice' })
}

function checkTool(tool: unknown, at: string): ChatRejection | undefined {
  if (!isJsonObject(tool)) return wrongType(at, 'an object', tool)
  const { type } = tool
  if (type === undefined) return missingParameter(`${at}.type`)
  if (type !== 'function' && type !== 'custom') return unsupportedChoice(`${at}.type`, type, ['function', 'custom'])
  const unknown = Object.keys(tool).find((name) => name !== 'type' && name !== type)
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`)
  const declared = tool[type]
  if (!isJsonObject(declared)) return missingParameter(`${at}.${type}`)
  return type === 'function' ? checkFunction(declared, `${at}.function`) : undefined
}

function checkFunction(declared: JsonObject, at: string): ChatRejection | undefined {
  const unknown = Object.keys(declared).find((name) => !functionMembers.includes(name))
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`)
  const { name, parameters, strict, description = '' } = declared
  if (typeof description !== 'string') return wrongType(`${at}.description`, 'a string', description)
  const refused = checkFunctionName(name, `${at}.name`)
  if (refused || parameters === undefined) return refused
  if (!isJsonObject(parameters)) return wrongType(`${at}.parameters`, 'an object', parameters)
  const fault = findFault(parameters, strict === true)
  if (fault === undefined) return undefined
  const pointer = { param: `${at}.parameters`, code: 'invalid_function_parameters' }
  return invalid(`Invalid schema for function '${name}': ${fault}`, pointer)
}

/** Finds a fault of parameters. Parameters without a type pass: an empty schema means no parameters. */
function findFault(parameters: JsonObject, isStrict: boolean): string | undefined {
  const type = parameters.type ?? 'object'
  if (type !== 'object') return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`
  return isStrict ? findStrictFault(parameters) : undefined
}

function chosenNames(choice: unknown): unknown[] {
  const allowed = valueAt(choice, 'allowed_tools.tools')
  return Array.isArray(allowed) ? allowed.map(nameOf) : [nameOf(choice)]
}

function nameOf(tool: unknown): unknown {
  return valueAt(tool, 'function.name') ?? valueAt(tool, 'custom.name')
}

import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { cacheControlOf } from './blocks-of-parts.ts'
import { ChatFault, flagAt, listAt, objectAt, textAt } from './chat-fault.ts'
import { dropLeftovers, isNothing, wordOf } from './json-value.ts'

/** `tools` and `tool_choice` of a Messages request. */
export interface ToolFields {
  readonly tools: readonly JsonObject[] | undefined
  readonly tool_choice: JsonObject | undefined
}

/** Translates `tools`, `tool_choice` and `parallel_tool_calls`, and the older `functions` and `function_call`. */
export function toToolFields(body: JsonObject, droppedFields: DroppedFields): ToolFields {
  const tools = [...toTools(body.tools, droppedFields), ...toFunctions(body.functions, droppedFields)]
  const isSerial = flagAt(body.parallel_tool_calls, 'parallel_tool_calls') === false
  const chosen = toChoice(body, tools, droppedFields)
  // A choice without tools is refused by the provider, and has no effect unless it forces one.
  if (tools.length === 0) return { tools: undefined, tool_choice: isForced(chosen) ? chosen : undefined }
  return { tools, tool_choice: isSerial ? serial(chosen) : chosen }
}

/** Returns true when the model has to call a tool. */
export function isForced(choice: JsonObject | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

function serial(choice: JsonObject = { type: 'auto' }): JsonObject {
  return choice.type === 'none' ? choice : { ...choice, disable_parallel_tool_use: true }
}

const TOOL_MEMBERS = { known: new Set(['type', 'function', 'cache_control']), place: 'tools' }
const FUNCTION_MEMBERS = {
  known: new Set(['name', 'description', 'parameters', 'strict', 'cache_control']),
  place: 'tools.function',
}

function toTools(list: unknown, droppedFields: DroppedFields): JsonObject[] {
  const tools: JsonObject[] = []
  for (const [index, value] of listAt(list, 'tools').entries()) {
    const path = `tools[${index}]`
    const tool = objectAt(value, path)
    if ((tool.type ?? 'function') === 'function') {
      dropLeftovers(tool, TOOL_MEMBERS, droppedFields)
      tools.push({ ...toTool(tool.function, `${path}.function`, droppedFields), ...cacheControlOf(tool) })
    } else droppedFields.refuse(path, `the Messages shape has no equivalent of a tool of type ${wordOf(tool.type)}`)
  }
  return tools
}

function toFunctions(list: unknown, droppedFields: DroppedFields): JsonObject[] {
  return listAt(list, 'functions').map((definition, index) => toTool(definition, `functions[${index}]`, droppedFields))
}

function toTool(value: unknown, path: string, droppedFields: DroppedFields): JsonObject {
  const definition = objectAt(value, path)
  const { description, parameters } = definition
  dropLeftovers(definition, FUNCTION_MEMBERS, droppedFields)
  return {
    name: textAt(definition.name, `${path}.name`),
    ...(!isNothing(description) && { description: textAt(description, `${path}.description`) }),
    input_schema: toInputSchema(parameters, `${path}.parameters`),
    ...(flagAt(definition.strict, `${path}.strict`) && { strict: true }),
    ...cacheControlOf(definition),
  }
}

/** Returns an input schema: Messages requires `type: object`, which chat completions imply. */
export function toInputSchema(parameters: unknown, path: string): JsonObject {
  if (isNothing(parameters)) return { type: 'object', properties: {} }
  const schema = objectAt(parameters, path)
  return schema.type === undefined ? { type: 'object', ...schema } : schema
}

const MODES = new Map<unknown, JsonObject>([
  ['auto', { type: 'auto' }],
  ['required', { type: 'any' }],
  ['none', { type: 'none' }],
])

function toChoice(
  body: JsonObject,
  tools: readonly JsonObject[],
  droppedFields: DroppedFields,
): JsonObject | undefined {
  const { tool_choice: choice, function_call: call } = body
  if (isNothing(choice)) return isNothing(call) ? undefined : toFunctionChoice(call)
  if (!isObject(choice)) return modeAt(choice, 'tool_choice')
  if (choice.type === 'allowed_tools') return toAllowed(choice, tools, droppedFields)
  if (choice.type === 'function') return named(choice.function, 'tool_choice.function')
  droppedFields.refuse('tool_choice', `the Messages shape has no equivalent of a choice of type ${wordOf(choice.type)}`)
  return undefined
}

function toFunctionChoice(call: unknown): JsonObject {
  return typeof call === 'string' ? modeAt(call, 'function_call') : named(call, 'function_call')
}

function modeAt(mode: unknown, path: string): JsonObject {
  const choice = MODES.get(mode)
  if (choice === undefined) throw new ChatFault(path, 'auto, required, none or a tool')
  return choice
}

function named(chosen: unknown, path: string): JsonObject {
  return { type: 'tool', name: textAt(objectAt(chosen, path).name, `${path}.name`) }
}

/** Translates a list of allowed tools: without effect when it has all tools; a shorter one needs other `tools` and is refused. */
function toAllowed(choice: JsonObject, tools: readonly JsonObject[], droppedFields: DroppedFields): JsonObject {
  const path = 'tool_choice.allowed_tools'
  const { mode, tools: allowed } = objectAt(choice.allowed_tools, path)
  const names = new Set(
    listAt(allowed, `${path}.tools`).map((tool) => isObject(tool) && isObject(tool.function) && tool.function.name),
  )
  if (!tools.every(({ name }) => names.has(name)))
    droppedFields.refuse(path, 'send only the tools that are allowed, in `tools`')
  return modeAt(mode, `${path}.mode`)
}

import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import type { ChatHabits } from '../to-chat-request.ts'
import { dropLeftovers, isNothing, wordOf } from './json-value.ts'
import { isStrictSchema } from './strict-schema.ts'

/** Inputs of the tools' translation. */
export interface ChatToolOptions {
  readonly model: string
  readonly habits: ChatHabits
  readonly droppedFields: DroppedFields
}

/** `tools`, `tool_choice` and `parallel_tool_calls` of a chat request. */
export interface ChatToolFields {
  readonly tools?: readonly JsonObject[]
  readonly tool_choice?: string | JsonObject
  readonly parallel_tool_calls?: false
}

const TOOL = { known: new Set(['type', 'name', 'description', 'input_schema', 'strict']), place: 'tools' }
const CHOICE = { known: new Set(['type', 'name', 'disable_parallel_tool_use']), place: 'tool_choice' }
const MODES = new Map<unknown, string>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])

/** Translates the tools; those that the Messages provider runs itself are refused. */
export function toChatToolFields(request: RequestDocument, options: ChatToolOptions): ChatToolFields {
  const { droppedFields } = options
  const tools = toChatTools(request.field('tools'), droppedFields)
  const given = request.field('tool_choice')
  if (!isObject(given)) return tools.length > 0 ? { tools } : {}
  const choice = toChatChoice(given, droppedFields)
  // Chat completions refuse a choice without tools; it has no effect unless it forces one.
  if (tools.length === 0)
    return choice === 'auto' || choice === 'none' || choice === undefined ? {} : { tool_choice: choice }
  return {
    tools,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(given.disable_parallel_tool_use === true && oneCallAtATime(options)),
  }
}

/** Returns the option for one call at a time; models without it may still call several tools at once. */
function oneCallAtATime({ model, habits, droppedFields }: ChatToolOptions): { parallel_tool_calls?: false } {
  if (!habits.withoutParallelChoice?.test(model)) return { parallel_tool_calls: false }
  droppedFields.drop('tool_choice.disable_parallel_tool_use')
  return {}
}

function toChatTools(list: unknown, droppedFields: DroppedFields): JsonObject[] {
  const tools: JsonObject[] = []
  for (const [index, tool] of (Array.isArray(list) ? list : []).entries()) {
    const { type, name } = isObject(tool) ? tool : {}
    if (isObject(tool) && typeof name === 'string' && (type ?? 'custom') === 'custom')
      tools.push(toChatTool(tool, droppedFields))
    else droppedFields.refuse(`tools[${index}]`, `this provider has no tool of type ${wordOf(type)}`)
  }
  return tools
}

function toChatTool(tool: JsonObject, droppedFields: DroppedFields): JsonObject {
  const { name, description, input_schema: parameters, strict } = tool
  dropLeftovers(tool, TOOL, droppedFields)
  const isStrict = strict === true && isStrictSchema(parameters)
  if (strict === true && !isStrict) droppedFields.drop('tools.strict')
  return {
    type: 'function',
    function: {
      name,
      ...(!isNothing(description) && { description }),
      ...(isObject(parameters) && { parameters }),
      ...(isStrict && { strict }),
    },
  }
}

function toChatChoice(choice: JsonObject, droppedFields: DroppedFields): string | JsonObject | undefined {
  dropLeftovers(choice, CHOICE, droppedFields)
  const { type, name } = choice
  if (type === 'tool' && typeof name === 'string') return { type: 'function', function: { name } }
  const mode = MODES.get(type)
  if (mode === undefined) droppedFields.refuse('tool_choice', `this provider has no choice of type ${wordOf(type)}`)
  return mode
}

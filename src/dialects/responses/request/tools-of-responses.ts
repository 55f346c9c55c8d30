import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { cacheControlOf } from '../../chat/request/blocks-of-parts.ts'
import { ChatFault, countAt, flagAt, listAt, objectAt, textAt } from '../../chat/request/chat-fault.ts'
import { claudeTraitsOf } from '../../chat/request/claude-traits.ts'
import { dropLeftovers, isNothing, type Leftovers, wordOf } from '../../chat/request/json-value.ts'
import { isForced, type ToolFields, toInputSchema } from '../../chat/request/tools-of-chat.ts'
import type { FlatNames } from '../tool-names.ts'
import { toWebSearch } from './web-search.ts'

/** A list of tools in the request, with its path. */
export interface ToolList {
  readonly tools: unknown
  readonly path: string
}

/**
 * Translates lists of tools, `tool_choice` and `parallel_tool_calls`; `model` is the provider's own name of it. Throws
 * `ChatFault`.
 */
export function toToolFields(
  lists: readonly ToolList[],
  body: JsonObject,
  { model, names, droppedFields }: { model: string; names: FlatNames; droppedFields: DroppedFields },
): ToolFields {
  const searches = claudeTraitsOf(model)?.searchesWeb === true ? mostSearches(body.max_tool_calls) : 0
  const all = lists.flatMap((list) => toTools({ ...list, searches, names }, undefined, droppedFields))
  const { choice, tools } = toChoice(body.tool_choice, { tools: all, names }, droppedFields)
  const isSerial = flagAt(body.parallel_tool_calls, 'parallel_tool_calls') === false
  // A choice without tools is refused by the provider, and has no effect unless it forces one.
  if (tools.length === 0) return { tools: undefined, tool_choice: isForced(choice) ? choice : undefined }
  return { tools, tool_choice: isSerial ? serial(choice) : choice }
}

function serial(choice: JsonObject = { type: 'auto' }): JsonObject {
  return choice.type === 'none' ? choice : { ...choice, disable_parallel_tool_use: true }
}

/** Tools of the provider that the model may do without: they are dropped, and reported. */
const OPTIONAL = new Set<unknown>(['tool_search', 'image_generation'])
const WEB_SEARCH = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/

/** Most searches of the web by a model itself, where the client sets no limit for its tools. */
const DEFAULT_SEARCHES = 5

function mostSearches(limit: unknown): number {
  return limit === 0 ? 0 : (countAt(limit, 'max_tool_calls') ?? DEFAULT_SEARCHES)
}

/** A list, and the most searches of the web that its model may do by itself; 0 where it cannot search. */
type Tools = ToolList & { readonly searches: number; readonly names: FlatNames }

function toTools(
  { tools, path, searches, names }: Tools,
  namespace: string | undefined,
  droppedFields: DroppedFields,
): JsonObject[] {
  return listAt(tools, path).flatMap((value, index) => {
    const at = `${path}[${index}]`
    const tool = objectAt(value, at)
    const { type } = tool
    if (type === 'function') return [toFunction(tool, { path: at, namespace, names }, droppedFields)]
    if (type === 'custom') return [toCustom(tool, { path: at, namespace, names }, droppedFields)]
    if (type === 'namespace' && namespace === undefined) return toNamespace(tool, { path: at, names }, droppedFields)
    if (typeof type === 'string' && WEB_SEARCH.test(type))
      return toWebSearch(tool, { path: at, searches }, droppedFields)
    if (OPTIONAL.has(type)) droppedFields.drop(`tools.${type}`)
    else droppedFields.refuse(at, `the Messages shape has no equivalent of a tool of type ${wordOf(type)}`)
    return []
  })
}

/** A tool's path and namespace. */
interface Place {
  readonly path: string
  readonly namespace: string | undefined
  readonly names: FlatNames
}

const FUNCTION: Leftovers = {
  known: new Set(['type', 'name', 'description', 'parameters', 'strict', 'cache_control']),
  place: 'tools',
}

function toFunction(tool: JsonObject, { path, namespace, names }: Place, droppedFields: DroppedFields): JsonObject {
  dropLeftovers(tool, FUNCTION, droppedFields)
  return {
    name: names.of(textAt(tool.name, `${path}.name`), namespace),
    ...(!isNothing(tool.description) && { description: textAt(tool.description, `${path}.description`) }),
    input_schema: toInputSchema(tool.parameters, `${path}.parameters`),
    ...(flagAt(tool.strict, `${path}.strict`) && { strict: true }),
    ...cacheControlOf(tool),
  }
}

const CUSTOM: Leftovers = { known: new Set(['type', 'name', 'description', 'format', 'cache_control']), place: 'tools' }
const FREE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

/** Returns a tool with one parameter for free text. Its grammar cannot be enforced; it becomes part of the description. */
function toCustom(tool: JsonObject, { path, namespace, names }: Place, droppedFields: DroppedFields): JsonObject {
  dropLeftovers(tool, CUSTOM, droppedFields)
  const description = isNothing(tool.description) ? '' : textAt(tool.description, `${path}.description`)
  const texts = [description, grammarOf(tool.format)].filter((text) => text !== '')
  return {
    name: names.of(textAt(tool.name, `${path}.name`), namespace),
    ...(texts.length > 0 && { description: texts.join('\n\n') }),
    input_schema: FREE_TEXT,
    ...cacheControlOf(tool),
  }
}

function grammarOf(format: unknown): string {
  if (!isObject(format) || typeof format.definition !== 'string') return ''
  return `The input must match this ${wordOf(format.syntax)} grammar:\n${format.definition}`
}

const NAMESPACE: Leftovers = { known: new Set(['type', 'name', 'tools']), place: 'tools' }

function toNamespace(
  tool: JsonObject,
  { path, names }: Omit<Place, 'namespace'>,
  droppedFields: DroppedFields,
): JsonObject[] {
  dropLeftovers(tool, NAMESPACE, droppedFields)
  const list = { tools: tool.tools, path: `${path}.tools`, searches: 0, names }
  return toTools(list, textAt(tool.name, `${path}.name`), droppedFields)
}

/** A choice, and the tools that it leaves. */
interface Chosen {
  readonly choice: JsonObject | undefined
  readonly tools: readonly JsonObject[]
}

const MODES: ReadonlyMap<unknown, JsonObject> = new Map([
  ['auto', { type: 'auto' }],
  ['required', { type: 'any' }],
  ['none', { type: 'none' }],
])

function toChoice(
  choice: unknown,
  { tools, names }: { tools: readonly JsonObject[]; names: FlatNames },
  droppedFields: DroppedFields,
): Chosen {
  if (isNothing(choice)) return { choice: undefined, tools }
  if (!isObject(choice)) return { choice: modeAt(choice, 'tool_choice'), tools }
  if (choice.type === 'allowed_tools') {
    const chosen = new Set(listAt(choice.tools, 'tool_choice.tools').map((tool) => chosenName(tool, names)))
    return { choice: modeAt(choice.mode, 'tool_choice.mode'), tools: tools.filter(({ name }) => chosen.has(name)) }
  }
  const name = chosenName(choice, names)
  if (name !== undefined && tools.some((tool) => tool.name === name)) return { choice: { type: 'tool', name }, tools }
  droppedFields.refuse('tool_choice', `there is no such tool of type ${wordOf(choice.type)} in this request`)
  return { choice: undefined, tools }
}

/** Returns the name, in the Messages shape, of a tool that a choice names. */
function chosenName(chosen: unknown, names: FlatNames): unknown {
  if (!isObject(chosen)) return undefined
  if (typeof chosen.name === 'string') return names.of(chosen.name, chosen.namespace)
  return typeof chosen.type === 'string' && WEB_SEARCH.test(chosen.type) ? 'web_search' : undefined
}

function modeAt(mode: unknown, path: string): JsonObject {
  const choice = MODES.get(mode)
  if (choice === undefined) throw new ChatFault(path, 'auto, required, none or a tool')
  return choice
}

import { elementsOf, isString, membersOf, objectOf } from '../../core/json/raw-json.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { dropOthers, given, printGiven, type Translation, textOf } from './raw-fields.ts'
import { nameOf } from './request-parts.ts'

/** Raw JSON of `tools` and `toolConfig`. */
export interface ToolFields {
  readonly tools: string | undefined
  readonly toolConfig: string | undefined
}

const KNOWN_TOOL = new Set(['type', 'name', 'description', 'input_schema'])
const KNOWN_CHOICE = new Set(['type', 'name'])

/**
 * Translates `tools` and `tool_choice`. Schemas pass unchanged in `parametersJsonSchema`, which takes JSON Schema,
 * where the older `parameters` takes a subset of OpenAPI (Gemini API, "FunctionDeclaration").
 */
export function toToolFields(request: RequestDocument, translation: Translation): ToolFields {
  const raw = request.raw('tools')?.toString('latin1')
  const tools = raw?.startsWith('[') ? elementsOf(raw) : []
  const declarations = tools.flatMap((tool, index) => toDeclaration(tool, index, translation))
  const choice = request.raw('tool_choice')?.toString('latin1')
  // Gemini refuses a choice without tools.
  const hasChoice = tools.length > 0 && choice !== undefined && choice !== 'null'
  if (tools.length === 0 && choice !== undefined && choice !== 'null') translation.droppedFields.drop('tool_choice')
  return {
    tools: declarations.length === 0 ? undefined : `[{"functionDeclarations":[${declarations.join(',')}]}]`,
    toolConfig: hasChoice ? toToolConfig(choice, translation) : undefined,
  }
}

function toDeclaration(tool: string, index: number, { droppedFields }: Translation): string[] {
  const members = membersOf(tool)
  const type = textOf(given(members, 'type'))
  const name = given(members, 'name')
  if ((type !== undefined && type !== 'custom') || !isString(name)) {
    droppedFields.refuse(
      `tools[${index}]`,
      `Gemini does not have the provider's own tool of type ${nameOf(type)}; remove it`,
    )
    return []
  }
  dropOthers(members, KNOWN_TOOL, { droppedFields, prefix: 'tools.' })
  const description = given(members, 'description')
  return [printGiven({ name, description, parametersJsonSchema: given(members, 'input_schema') })]
}

const MODES = new Map([
  ['auto', '"AUTO"'],
  ['any', '"ANY"'],
  ['none', '"NONE"'],
  ['tool', '"ANY"'],
])

function toToolConfig(choice: string, { droppedFields }: Translation): string | undefined {
  const members = objectOf(choice)
  const type = textOf(members?.get('type'))
  const mode = MODES.get(type ?? '')
  if (members === undefined || mode === undefined) {
    droppedFields.refuse(
      'tool_choice',
      `Gemini has no equivalent of a choice of type ${nameOf(type)}; use auto, any, tool or none`,
    )
    return undefined
  }
  dropOthers(members, KNOWN_CHOICE, { droppedFields, prefix: 'tool_choice.' })
  const allowedFunctionNames = type === 'tool' ? `[${members.get('name') ?? ''}]` : undefined
  return printGiven({ functionCallingConfig: printGiven({ mode, allowedFunctionNames }) })
}

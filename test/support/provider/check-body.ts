import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import type { Route } from './check-request.ts'
import { invalid, type Rejection } from './rejection.ts'

const MAX_CACHE_BREAKPOINTS = 4

/** Returns the first rule that a body breaks outside its `messages`; `undefined` for a valid one. */
export function checkBody(body: JsonObject, route: Route): Rejection | undefined {
  return (
    checkRequired(body, route) ??
    checkMaxTokens(body) ??
    checkRange(body, 'temperature') ?? // the provider accepts 0 to 1, although the gateway's schema goes to 2
    checkRange(body, 'top_p') ??
    checkThinking(body) ??
    checkTools(body) ??
    checkBreakpoints(body)
  )
}

function checkRequired(body: JsonObject, route: Route): Rejection | undefined {
  const names = route === 'messages' ? ['model', 'max_tokens', 'messages'] : ['model', 'messages']
  const missing = names.find((name) => body[name] === undefined)
  if (missing) return invalid(`${missing}: Field required`)
  if (typeof body.model !== 'string') return invalid('model: Input should be a valid string')
  if (body.model === '') return invalid('model: String should have at least 1 character')
  if (body.stream !== undefined && typeof body.stream !== 'boolean') {
    return invalid('stream: Input should be a valid boolean')
  }
  return undefined
}

function checkMaxTokens({ max_tokens: maxTokens }: JsonObject): Rejection | undefined {
  if (maxTokens === undefined) return undefined
  if (!Number.isInteger(maxTokens)) return invalid('max_tokens: Input should be a valid integer')
  if (Number(maxTokens) < 1) return invalid('max_tokens: must be greater than or equal to 1')
  return undefined
}

function checkRange(body: JsonObject, name: 'temperature' | 'top_p'): Rejection | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number') return invalid(`${name}: Input should be a valid number`)
  return value >= 0 && value <= 1 ? undefined : invalid(`${name}: range: 0..1`)
}

function checkThinking(body: JsonObject): Rejection | undefined {
  const budget = valueAt(body.thinking, 'budget_tokens')
  if (body.max_tokens === undefined || typeof budget !== 'number' || Number(body.max_tokens) > budget) return undefined
  return invalid('`max_tokens` must be greater than `thinking.budget_tokens`.')
}

function checkTools({ tools = [], tool_choice: choice }: JsonObject): Rejection | undefined {
  if (!Array.isArray(tools)) return invalid('tools: Input should be a valid list')
  const names = tools.map((tool) => valueAt(tool, 'name') ?? valueAt(tool, 'mcp_server_name'))
  const nameless = names.findIndex((name) => typeof name !== 'string' || name === '')
  if (nameless >= 0) return invalid(`tools.${nameless}.name: Field required`)
  if (new Set(names).size < names.length) return invalid('tools: Tool names must be unique.')
  const chosen = valueAt(choice, 'type') === 'tool' ? valueAt(choice, 'name') : undefined
  if (chosen !== undefined && !names.includes(chosen)) return invalid(`Tool '${chosen}' not found in provided tools`)
  return undefined
}

function checkBreakpoints(body: JsonObject): Rejection | undefined {
  const found = countBreakpoints([body.system, body.tools, body.messages])
  if (found <= MAX_CACHE_BREAKPOINTS) return undefined
  return invalid(`A maximum of ${MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.`)
}

/** Counts `cache_control` in blocks, and in blocks inside blocks, but not in a tool's input or schema. */
function countBreakpoints(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countBreakpoints(item), 0)
  if (!isJsonObject(value)) return 0
  return (isJsonObject(value.cache_control) ? 1 : 0) + countBreakpoints(value.content)
}

import type { RequestDocument } from '../../core/request/request.ts'

/**
 * Tokens that Anthropic adds to a request for its options, beside the client's own text. Those of tools are
 * from its documentation (Tool use, "Pricing"), the others from recorded replies to Claude 4 models.
 */
export const TOOLS_TOKENS = 346
const FORCED_TOOL_TOKENS = 313
export const THINKING_TOKENS = 28
const ADAPTIVE_THINKING_TOKENS = 17
export const OUTPUT_FORMAT_TOKENS = 180
const TASK_BUDGET_TOKENS = 34
/** A server's tools are fetched by the provider, so that even their number is an estimate. */
const MCP_SERVER_TOKENS = 600

/** Tools that the provider runs, by the prefix of their `type`. */
const PROVIDER_TOOLS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['bash_', 245],
  ['text_editor_', 700],
  ['computer_', 735],
  ['memory_', 1220],
  ['code_execution_', 1900],
  ['web_fetch_', 500],
  ['web_search_', 700],
  ['tool_search_', 340],
]
export const UNKNOWN_PROVIDER_TOOL_TOKENS = 500

/** Returns the tokens of a tool that the provider defines by its `type`. */
export function providerToolTokens(type: string): number {
  return PROVIDER_TOOLS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? UNKNOWN_PROVIDER_TOOL_TOKENS
}

/** Returns the tokens added for the request's own fields; `hasTools` when a tool is in the prompt. */
export function hiddenPromptTokens(request: RequestDocument, hasTools: boolean): number {
  const tools = hasTools ? (isForced(request) ? FORCED_TOOL_TOKENS : TOOLS_TOKENS) : 0
  const servers = request.raw('mcp_servers') === undefined ? [] : request.field('mcp_servers')
  const serverTokens = Array.isArray(servers) ? servers.length * MCP_SERVER_TOKENS : 0
  return tools + serverTokens + thinkingTokens(request) + outputTokens(request)
}

function outputTokens(request: RequestDocument): number {
  const format = memberOf(request, 'output_config', 'format') === undefined ? 0 : OUTPUT_FORMAT_TOKENS
  return format + (memberOf(request, 'output_config', 'task_budget') === undefined ? 0 : TASK_BUDGET_TOKENS)
}

function isForced(request: RequestDocument): boolean {
  const type = memberOf(request, 'tool_choice', 'type')
  return type === 'any' || type === 'tool'
}

function thinkingTokens(request: RequestDocument): number {
  const type = memberOf(request, 'thinking', 'type')
  if (type === 'enabled') return THINKING_TOKENS
  return type === 'adaptive' ? ADAPTIVE_THINKING_TOKENS : 0
}

function memberOf(request: RequestDocument, field: string, member: string): unknown {
  const value = request.field(field)
  // Safe: an object's members may be anything.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[member] : undefined
}

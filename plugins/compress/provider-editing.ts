import type { Edit, Exchange, Tool } from 'turnpike/plugin'
import { betasOf } from 'turnpike/plugin/bytes'
import type { EpochSettings } from './epochs.ts'

/** The beta that clients of context editing ask for, and its strategy. Source: Anthropic's documentation, Context editing. */
const BETA = 'context-management-2025-06-27'
const STRATEGY = 'clear_tool_uses_20250919'
/** The provider whose own API has it. */
const PROVIDER = 'anthropic'

/** Whether the client already says how its context is to be managed: nobody else does then. */
export function managesContext({ request }: Exchange): boolean {
  return request.field('context_management') !== undefined
}

/** Whether every provider that may answer can clear old results itself, and the client has asked for the beta that lets it. */
export function canClear({ targets, headers }: Exchange): boolean {
  return targets.every(({ provider }) => provider === PROVIDER) && betasOf(headers).includes(BETA)
}

/** The edit that has the provider clear old results, of tools that may be elided, at the same size of the conversation. */
export function clearingEdit(
  { request }: Exchange,
  { startTokens, stepTokens, keepResults }: EpochSettings,
  mayElide: (name: string) => boolean,
): Edit {
  // Checked when the request was taken in.
  const tools = (request.field('tools') ?? []) as readonly Tool[]
  const excluded = tools.flatMap(({ name }) => (typeof name === 'string' && !mayElide(name) ? [name] : []))
  const value = {
    edits: [
      {
        type: STRATEGY,
        trigger: { type: 'input_tokens', value: startTokens },
        keep: { type: 'tool_uses', value: keepResults },
        clear_at_least: { type: 'input_tokens', value: stepTokens },
        ...(excluded.length > 0 && { exclude_tools: excluded }),
      },
    ],
  }
  return { op: 'add', path: ['context_management'], value }
}

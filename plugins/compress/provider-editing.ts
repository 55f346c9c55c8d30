import type { Edit, Exchange, Tool } from 'turnpike/plugin'
import { betasOf } from 'turnpike/plugin/bytes'
import type { EpochSettings } from './epochs.ts'

/** Beta header of context editing. Source: Anthropic's documentation, Context editing. */
const BETA = 'context-management-2025-06-27'
const STRATEGY = 'clear_tool_uses_20250919'
/** Provider whose API supports it. */
const PROVIDER = 'anthropic'

/** Tests for a request that manages its context itself, which disables elision here. */
export function managesContext({ request }: Exchange): boolean {
  return request.field('context_management') !== undefined
}

/** Tests that every target can clear old results itself, and that the client has sent the beta that allows it. */
export function canClear({ targets, headers }: Exchange): boolean {
  return targets.every(({ provider }) => provider === PROVIDER) && betasOf(headers).includes(BETA)
}

/**
 * Returns the edit that makes the provider clear old results of the configured tools, at the same conversation size.
 */
export function clearingEdit(
  { request }: Exchange,
  { startTokens, stepTokens, keepResults }: EpochSettings,
  mayElide: (name: string) => boolean,
): Edit {
  // Checked when the request was received.
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

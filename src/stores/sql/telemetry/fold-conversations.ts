import type { ConversationSummary, ConversationTotals, Run } from '../../../core/telemetry/conversations.ts'
import { CONVERSATION_SUMS, type ConversationSum, type UsageConversationTable } from './conversation-schema.ts'

/** Most sub-agents of a run that are listed. */
const MOST_AGENTS = 100

/** Sums of several rows. */
export type Sums = Record<ConversationSum, number>

/** Sums of a run, and the number of its conversations. */
export interface RunSums {
  readonly sums: Sums
  readonly conversations: number
}

/**
 * Makes the run of a conversation from its rows and those of the sub-agents below it, the newest first. `all` replaces their
 * sums where not all rows are there.
 */
export function toRun(id: string, rows: readonly UsageConversationTable[], all?: RunSums): Run {
  const byConversation = Map.groupBy(rows, (row) => row.conversation_id)
  const own = byConversation.get(id)
  byConversation.delete(id)
  const agents = [...byConversation.values()].map(toSummary)
  return {
    ...(own === undefined ? withoutTurns(id, rows) : toSummary(own)),
    runTotals: toTotals(all?.sums ?? sumOf(rows)),
    agentCount: all === undefined ? agents.length : all.conversations - (own === undefined ? 0 : 1),
    agents: agents.slice(0, MOST_AGENTS),
  }
}

/** Makes the summary of a conversation with these rows, the newest first: one for each model. */
function toSummary(rows: readonly UsageConversationTable[]): ConversationSummary {
  // Safe: a group has one row at least.
  const newest = rows[0] as UsageConversationTable
  return {
    id: newest.conversation_id,
    rootId: newest.root_id,
    parentId: newest.parent_id,
    agent: newest.agent,
    client: newest.client,
    source: newest.source === 'client' ? 'client' : 'prefix',
    scope: newest.scope,
    firstAtMs: Math.min(...rows.map(({ first_at_ms }) => first_at_ms)),
    lastAtMs: newest.last_at_ms,
    lastId: newest.last_id,
    models: rows.filter(({ model }) => model !== '').map(({ provider, model }) => `${provider}/${model}`),
    contextTokens: rows.find(({ context_tokens }) => context_tokens !== null)?.context_tokens ?? null,
    totals: toTotals(sumOf(rows)),
  }
}

/** Makes the summary of a conversation that is known by its sub-agents alone. */
function withoutTurns(id: string, rows: readonly UsageConversationTable[]): ConversationSummary {
  const totals = toTotals(sumOf([]))
  return { ...toSummary(rows), id, rootId: id, parentId: null, agent: null, models: [], contextTokens: null, totals }
}

/** Adds rows up. */
function sumOf(rows: readonly Sums[]): Sums {
  const sums = Object.fromEntries(
    CONVERSATION_SUMS.map((column) => [column, rows.reduce((sum, row) => sum + row[column], 0)]),
  )
  // Safe: these are all the columns.
  return sums as Sums
}

function toTotals(sums: Sums): ConversationTotals {
  return {
    turns: sums.turns,
    errors: sums.errors,
    unpriced: sums.unpriced,
    tokens: {
      input: sums.input_tokens,
      output: sums.output_tokens,
      cacheRead: sums.cache_read_tokens,
      cacheWrite: sums.cache_write_tokens,
      cacheWrite1h: sums.cache_write_1h_tokens,
      reasoning: sums.reasoning_tokens,
    },
    serverToolCalls: sums.server_tool_calls,
    costNanoUsd: sums.cost_nano_usd,
    costs: {
      input: sums.input_nano_usd,
      cacheRead: sums.cache_read_nano_usd,
      cacheWrite5m: sums.cache_write_5m_nano_usd,
      cacheWrite1h: sums.cache_write_1h_nano_usd,
      output: sums.output_nano_usd,
      reasoning: sums.reasoning_nano_usd,
      serverTools: sums.server_tools_nano_usd,
    },
    savedNanoUsd: sums.saved_nano_usd,
    lostTokens: sums.lost_tokens,
    lostNanoUsd: sums.lost_nano_usd,
  }
}

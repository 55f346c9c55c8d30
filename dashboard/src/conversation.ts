import type { CostByClass } from '../../src/core/money/prices.ts'
import type { ConversationSummary, ConversationTurn, Run } from '../../src/core/telemetry/conversations.ts'
import type { RequestTokens } from '../../src/core/telemetry/telemetry.ts'

/** Reply of `/dashboard/api/conversations/:id`. */
export interface ConversationReply {
  readonly conversation: Run
  readonly turns: { readonly data: readonly ConversationTurn[]; readonly has_more: boolean }
}

/** Class of cost: its name, its colour and its tokens; a class without tokens is counted in calls. */
export interface CostClass {
  readonly name: keyof CostByClass
  readonly title: string
  readonly colour: string
  readonly tokens?: (tokens: RequestTokens) => number
}

/** Classes of cost in the order of a request. */
export const COST_CLASSES: readonly CostClass[] = [
  { name: 'input', title: 'Fresh input', colour: 'chart-4', tokens: ({ input }) => input },
  { name: 'cacheRead', title: 'Cache read', colour: 'chart-3', tokens: ({ cacheRead }) => cacheRead },
  {
    name: 'cacheWrite5m',
    title: 'Cache write, 5 min',
    colour: 'chart-2',
    tokens: ({ cacheWrite, cacheWrite1h }) => cacheWrite - cacheWrite1h,
  },
  { name: 'cacheWrite1h', title: 'Cache write, 1 h', colour: 'chart-5', tokens: ({ cacheWrite1h }) => cacheWrite1h },
  { name: 'output', title: 'Output', colour: 'chart-1', tokens: ({ output, reasoning }) => output - reasoning },
  { name: 'reasoning', title: 'Reasoning', colour: 'chart-6', tokens: ({ reasoning }) => reasoning },
  { name: 'serverTools', title: 'Server tools, fees', colour: 'chart-7' },
]

const SHORT_ID_LENGTH = 6

/** Shortens an id to its end, which differs between conversations. */
export function shortId(id: string): string {
  return `…${id.slice(-SHORT_ID_LENGTH)}`
}

/** Returns the address of a conversation, and of one of its turns. */
export function conversationHash(id: string, turn?: string): string {
  return `#/conversation/${encodeURIComponent(id)}${turn === undefined ? '' : `?turn=${encodeURIComponent(turn)}`}`
}

/** Row of a conversation: one of its turns, a sub-agent, or a turn of an unfolded sub-agent. */
export type ConversationRow =
  | { readonly kind: 'turn'; readonly turn: ConversationTurn; readonly agent?: ConversationSummary }
  | { readonly kind: 'agent'; readonly agent: ConversationSummary }
  | { readonly kind: 'more'; readonly agent: ConversationSummary; readonly left: number }

/** Parts of the rows of a conversation. */
export interface RowParts {
  readonly turns: readonly ConversationTurn[]
  /** Turns are left that have not been loaded. */
  readonly hasMore: boolean
  readonly agents: readonly ConversationSummary[]
  /** First turns of unfolded sub-agents, by id. */
  readonly unfolded: ReadonlyMap<string, readonly ConversationTurn[]>
}

/** Puts each sub-agent below the last turn that began before it. One that began after the turns loaded so far is left out. */
export function rowsOf({ turns, hasMore, agents, unfolded }: RowParts): ConversationRow[] {
  const waiting = agents.toSorted((a, b) => a.firstAtMs - b.firstAtMs)
  const rows: ConversationRow[] = []
  const takeBefore = (atMs: number) => {
    while (waiting[0] !== undefined && waiting[0].firstAtMs < atMs) rows.push(...agentRows(waiting.shift(), unfolded))
  }
  for (const turn of turns) {
    takeBefore(turn.startedAtMs)
    rows.push({ kind: 'turn', turn })
  }
  if (!hasMore) takeBefore(Number.POSITIVE_INFINITY)
  return rows
}

function agentRows(
  agent: ConversationSummary | undefined,
  unfolded: ReadonlyMap<string, readonly ConversationTurn[]>,
): ConversationRow[] {
  if (agent === undefined) return []
  const turns = unfolded.get(agent.id)
  if (turns === undefined) return [{ kind: 'agent', agent }]
  const left = agent.totals.turns - turns.length
  return [
    { kind: 'agent', agent },
    ...turns.map((turn): ConversationRow => ({ kind: 'turn', turn, agent })),
    ...(left > 0 ? [{ kind: 'more', agent, left } as const] : []),
  ]
}

import type { FinishedRequest, RequestConversation } from '../../src/core/telemetry/telemetry.ts'
import { openTelemetryStore } from '../../src/stores/sql/telemetry/telemetry.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { sampleRequest } from '../support/telemetry.ts'

/** Ids of the sample session and its sub-agents. */
export const SESSION = 'conv_0123456789abcdefghjkmses'
export const EXPLORER = 'conv_0123456789abcdefghjkmexp'
const REVIEWER = 'conv_0123456789abcdefghjkmrev'
/** Tokens that each turn adds to the context. */
const GROWTH = 2600
const FIRST_CONTEXT = 18_400
const MINUTE_MS = 60_000
const INPUT_NANO_USD = 3000
const OUTPUT_NANO_USD = 15_000

const main: Omit<RequestConversation, 'turn'> = {
  id: SESSION,
  rootId: SESSION,
  parentId: null,
  agent: null,
  client: 'claude-code',
  source: 'client',
}

const TOOLS = [['Read', 'Grep'], ['Bash'], ['Edit'], ['Task'], ['Read', 'Read', 'Read', 'Grep'], []] as const

/** Turns of a session of a coding agent with two sub-agents, two lost prefixes and a refused turn, which ends at `endMs`. */
export function sessionRows(endMs: number, { turns = 16 }: { turns?: number } = {}): FinishedRequest[] {
  const at = (turn: number) => endMs - (turns - turn) * MINUTE_MS
  const own = Array.from({ length: turns }, (_, index) => turnOf(main, index + 1, at(index + 1)))
  const explorer = { ...main, id: EXPLORER, parentId: SESSION, agent: 'Explore' }
  const reviewer = { ...main, id: REVIEWER, parentId: EXPLORER, agent: 'code-reviewer' }
  const agents = [1, 2, 3, 4].map((turn) => turnOf(explorer, turn, at(4) + turn * 9000))
  const nested = [1, 2].map((turn) => turnOf(reviewer, turn, at(4) + 30_000 + turn * 5000))
  return [...own, ...agents, ...nested]
}

function turnOf(conversation: Omit<RequestConversation, 'turn'>, turn: number, startedAtMs: number): FinishedRequest {
  const context = FIRST_CONTEXT + (turn - 1) * GROWTH
  const isLost = conversation.id === SESSION && (turn === 7 || turn === 12)
  const isOneHour = turn % 4 === 1
  const written = turn === 1 || isLost ? context - 40 : GROWTH - 40
  const tokens = {
    input: 40,
    output: 420 + 37 * turn,
    cacheRead: context - 40 - written,
    cacheWrite: written,
    cacheWrite1h: isOneHour ? written : 0,
    reasoning: 90 + 5 * turn,
  }
  const costs = {
    input: tokens.input * INPUT_NANO_USD,
    cacheRead: (tokens.cacheRead * INPUT_NANO_USD) / 10,
    cacheWrite5m: ((tokens.cacheWrite - tokens.cacheWrite1h) * INPUT_NANO_USD * 5) / 4,
    cacheWrite1h: tokens.cacheWrite1h * INPUT_NANO_USD * 2,
    output: (tokens.output - tokens.reasoning) * OUTPUT_NANO_USD,
    reasoning: tokens.reasoning * OUTPUT_NANO_USD,
    serverTools: turn === 5 ? 10_000_000 : 0,
  }
  const costNanoUsd = Object.values(costs).reduce((sum, cost) => sum + cost)
  const tools = TOOLS[turn % TOOLS.length] ?? []
  const edits =
    turn % 3 === 0 ? [{ module: 'compress', paths: ['messages'], bytesBefore: 81_400, bytesAfter: 52_300 }] : []
  return sampleRequest({
    conversation: { ...conversation, turn },
    startedAtMs,
    isStream: true,
    pipeline: 'compress,cost-guard',
    modelServed: turn < 7 ? 'claude-sonnet-4-5' : 'claude-opus-4-8',
    tokens,
    costs,
    costNanoUsd,
    counterfactualNanoUsd: costNanoUsd + edits.length * 21_000_000,
    counterfactualBasis: edits.length > 0 ? 'estimate' : 'same',
    firstByteMs: 640 + 11 * turn,
    totalMs: 640 + 11 * turn + 7200,
    stopReason: tools.length > 0 ? 'tool_use' : 'end_turn',
    tools,
    serverToolCalls: turn === 5 ? 1 : 0,
    lost: isLost ? lossOf(turn, written) : null,
    trace: { steps: [], edits, calls: [] },
  })
}

function lossOf(turn: number, tokens: number): NonNullable<FinishedRequest['lost']> {
  const nanoUsd = Math.round(tokens * INPUT_NANO_USD * 1.15)
  return turn === 7
    ? { reason: 'model', detail: 'claude-opus-4-8 in place of claude-sonnet-4-5', tokens, nanoUsd }
    : { reason: 'expired', detail: 'first request after 7 min: the cache had expired (5 min)', tokens, nanoUsd }
}

/** Stores rows in a folder before a gateway starts there. */
export async function storeRows(dataDir: string, rows: readonly FinishedRequest[]): Promise<void> {
  const log = createRecordingLog()
  // Only PostgreSQL shares the store of accounts.
  const accounts = undefined as never
  const telemetry = openTelemetryStore({ databaseUrl: undefined, dataDir, accounts, log, clock: { nowMs: Date.now } })
  for (const row of rows) telemetry.record(row)
  await telemetry.close(60_000)
  if (log.lines.length > 0) throw new Error(JSON.stringify(log.lines[0]))
}

/** Turns of the long conversation. */
export const MANY = 2000
export const LONG = 'conv_0123456789abcdefghjkmlng'

/** Turns of a long conversation of another client, one a second, which ends at `endMs`. */
export function longRows(endMs: number, turns = MANY): FinishedRequest[] {
  const conversation = { ...main, id: LONG, rootId: LONG, client: 'opencode' }
  return Array.from({ length: turns }, (_, index) =>
    sampleRequest({ conversation: { ...conversation, turn: index + 1 }, startedAtMs: endMs - (turns - index) * 1000 }),
  )
}

import { type BilledTokens, billedUsd, sharesText, sumOfTokens } from '../billing.ts'
import { type PromptBill, PromptCache } from '../prompt-cache.ts'
import { countTokens } from '../tokens.ts'
import type { Case } from './data.ts'
import { createModule, type Pruned, type WireMessage, type WireRequest } from './module.ts'
import { mean, percent, type Row, rounded } from './report.ts'
import { tokensOf } from './single-turns.ts'

const SIZE = 100
const MODES = ['slim', 'drop'] as const

/** Replay of one session. */
interface Replay {
  readonly set: string
  readonly calls: number
  readonly toolTokens: number
  readonly finalTokens: number
  readonly cost: number
  readonly billed: BilledTokens
  readonly breaks: number
  readonly listChanges: number
  /** Needed tools that were available when needed. */
  readonly present: number
}

type Prune = (request: WireRequest) => Promise<Pruned>

const unchanged: Prune = async ({ tools }) => ({ tools, action: 'ran', milliseconds: 0 })

/**
 * Replays whole sessions with 100 tools, call by call, as a client would send them: a call for the user's message, and
 * one for the results of the tools. Returns a row for each mode and set, compared with the same session unpruned.
 */
export async function measureSessions(cases: readonly Case[]): Promise<Row[]> {
  const sessions = cases.filter(({ turns, tools }) => turns.length > 1 && tools.has(SIZE))
  const unpruned = new Map<Case, Replay>()
  for (const session of sessions) unpruned.set(session, await replay(session, unchanged))
  const rows: Row[] = []
  for (const mode of MODES) {
    const prune = createModule(mode)
    const pairs: { set: string; before: Replay; after: Replay }[] = []
    for (const [session, before] of unpruned)
      pairs.push({ set: session.set, before, after: await replay(session, prune) })
    for (const [set, members] of Map.groupBy(pairs, ({ set }) => set)) rows.push(rowOf(`${mode}: ${set}`, members))
  }
  return rows
}

async function replay({ set, turns, tools: pools }: Case, prune: Prune): Promise<Replay> {
  const tools = pools.get(SIZE) ?? []
  const cache = new PromptCache()
  const messages: WireMessage[] = []
  const presence: number[] = []
  const seen: (PromptBill & { toolTokens: number; finalTokens: number; list: string })[] = []
  const call = async () => {
    const { tools: sent } = await prune({ tools, messages })
    const blocks = [...sent, ...messages].map((block) => JSON.stringify(block))
    const bill = cache.call(blocks.map((text) => ({ text, tokens: countTokens(text) })))
    const finalTokens = bill.readTokens + bill.writtenTokens + bill.uncachedTokens
    seen.push({ ...bill, toolTokens: tokensOf(sent), finalTokens, list: JSON.stringify(sent) })
    return new Set(sent.map(({ name }) => name))
  }
  for (const [nth, { user, needed }] of turns.entries()) {
    messages.push({ role: 'user', content: user })
    const names = await call()
    presence.push(...needed.map((name) => (names.has(name) ? 1 : 0)))
    if (needed.length > 0) {
      messages.push(...useOf(needed, nth))
      await call()
    }
    messages.push({ role: 'assistant', content: 'Done.' })
  }
  return {
    set,
    calls: seen.length,
    toolTokens: mean(seen.map(({ toolTokens }) => toolTokens)),
    finalTokens: seen.at(-1)?.finalTokens ?? 0,
    cost: seen.reduce((sum, { cost }) => sum + cost, 0),
    billed: sumOfTokens(seen),
    breaks: seen.filter(({ isBreak }) => isBreak).length,
    listChanges: seen.filter(({ list }, i) => i > 0 && list !== seen[i - 1]?.list).length,
    present: mean(presence),
  }
}

/**
 * Returns messages in which the model calls all tools that the turn needs, and the client replies. The data have
 * neither, so both are short.
 */
function useOf(names: readonly string[], turn: number): WireMessage[] {
  const ids = names.map((_, i) => `toolu_${turn}_${i}`)
  return [
    { role: 'assistant', content: names.map((name, i) => ({ type: 'tool_use', id: ids[i], name, input: {} })) },
    { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'done' })) },
  ]
}

function rowOf(group: string, pairs: readonly { before: Replay; after: Replay }[]): Row {
  const sum = (of: (pair: { before: Replay; after: Replay }) => number) =>
    pairs.reduce((total, pair) => total + of(pair), 0)
  const billed = [pairs.map(({ before }) => before), pairs.map(({ after }) => after)].map((replays) =>
    sumOfTokens(replays.map((replay) => replay.billed)),
  )
  return {
    group,
    sessions: pairs.length,
    calls: sum(({ after }) => after.calls),
    'present %': percent(mean(pairs.map(({ after }) => after.present))),
    'complete %': percent(mean(pairs.map(({ after }) => (after.present === 1 ? 1 : 0)))),
    'tool tokens saved %': percent(mean(pairs.map(({ before, after }) => 1 - after.toolTokens / before.toolTokens))),
    'final context %': percent(sum(({ after }) => after.finalTokens) / sum(({ before }) => before.finalTokens) - 1),
    'billed $': billed.map((tokens) => billedUsd(tokens).toFixed(3)).join('→'),
    'new/read/write %': billed.map(sharesText).join('→'),
    'billed cost %': percent(sum(({ after }) => after.cost) / sum(({ before }) => before.cost) - 1),
    'breaks a session': rounded(mean(pairs.map(({ after }) => after.breaks)), 2),
    'list changes a session': rounded(mean(pairs.map(({ after }) => after.listChanges)), 2),
  }
}

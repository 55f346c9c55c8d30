import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { PatternsModule } from '../../test/support/patterns.ts'
import { type BilledTokens, sumOfTokens } from '../billing.ts'

/** Figures of replayed sessions. */
export interface ReplayFigures {
  readonly calls: number
  /** Calls whose beginning differs from the previous call. */
  readonly prefixBreaks: number
  readonly callsWithInjection: number
  /** Calls with more injected tokens than the budget, counted by a public tokenizer. */
  readonly overBudget: number
  /** Input tokens of all calls by price, with the plugin and without. */
  readonly billed: BilledTokens
  readonly billedWithout: BilledTokens
}

const TAG = '<gateway-instructions'
const ANSWER = 'I have looked at it, and here is what I have found so far. '.repeat(20)
const SYSTEM = 'You are an assistant in a company. Answer with what you know, and say what you do not know. '.repeat(40)

interface Block {
  readonly text: string
  readonly isMarked: boolean
}

/**
 * Replays sessions call by call through several instances in rotation, as behind a load balancer: they share nothing.
 */
export async function replay(
  sessions: readonly (readonly string[])[],
  { modules, maxTokens }: { modules: readonly PatternsModule[]; maxTokens: number },
): Promise<ReplayFigures> {
  const figures = { calls: 0, prefixBreaks: 0, callsWithInjection: 0, overBudget: 0 }
  const bills = { ours: [] as BilledTokens[], theirs: [] as BilledTokens[] }
  for (const turns of sessions) {
    const history = { ours: [] as Block[], theirs: [] as Block[] }
    for (let turn = 0; turn < turns.length; turn++) {
      const body = JSON.stringify(callOf(turns.slice(0, turn + 1)))
      const module = modules[turn % modules.length]
      if (module === undefined) throw new Error('expected at least one instance')
      const { sent } = await module.run({ body })
      const blocks = { ours: blocksOf(JSON.parse(sent.toString())), theirs: blocksOf(JSON.parse(body)) }
      const injected = blocks.ours.filter(({ text }) => text.startsWith(TAG))
      figures.calls++
      if (!isPrefix(history.ours, blocks.ours)) figures.prefixBreaks++
      if (injected.length > 0) figures.callsWithInjection++
      if (injected.reduce((sum, { text }) => sum + countTokens(text), 0) > maxTokens) figures.overBudget++
      bills.ours.push(tokensOf(history.ours, blocks.ours))
      bills.theirs.push(tokensOf(history.theirs, blocks.theirs))
      Object.assign(history, blocks)
    }
  }
  return { ...figures, billed: sumOfTokens(bills.ours), billedWithout: sumOfTokens(bills.theirs) }
}

/** Returns the request as coding agents send it: the last block is marked, and the mark moves on. */
function callOf(turns: readonly string[]): object {
  const messages = turns.flatMap((text, i) => [
    ...(i === 0 ? [] : [{ role: 'assistant', content: [{ type: 'text', text: ANSWER }] }]),
    { role: 'user', content: [{ type: 'text', text, ...(i === turns.length - 1 && MARK) }] },
  ])
  return { model: 'claude-sonnet-4-5', max_tokens: 1000, system: [{ type: 'text', text: SYSTEM, ...MARK }], messages }
}

const MARK = { cache_control: { type: 'ephemeral' } }

interface Call {
  readonly system: readonly { text: string; cache_control?: object }[]
  readonly messages: readonly { role: string; content: readonly { text: string; cache_control?: object }[] }[]
}

function blocksOf({ system, messages }: Call): Block[] {
  const blocks = [...system, ...messages.flatMap(({ content }) => content)]
  return blocks.map(({ text, cache_control }) => ({ text, isMarked: cache_control !== undefined }))
}

function isPrefix(before: readonly Block[], now: readonly Block[]): boolean {
  return before.every(({ text }, i) => now[i]?.text === text)
}

/**
 * Returns the tokens: blocks written at the previous call are read; the rest up to the last mark is written; blocks
 * behind it are plain.
 */
function tokensOf(before: readonly Block[], now: readonly Block[]): BilledTokens {
  const written = before.findLastIndex(({ isMarked }) => isMarked) + 1
  const same = before.slice(0, written).findIndex(({ text }, i) => now[i]?.text !== text)
  const readCount = same === -1 ? written : 0
  const writtenCount = Math.max(readCount, now.findLastIndex(({ isMarked }) => isMarked) + 1)
  const sum = (blocks: readonly Block[]) => blocks.reduce((total, { text }) => total + countTokens(text), 0)
  return {
    readTokens: sum(now.slice(0, readCount)),
    writtenTokens: sum(now.slice(readCount, writtenCount)),
    uncachedTokens: sum(now.slice(writtenCount)),
  }
}

import { performance } from 'node:perf_hooks'
import { ClientRequest } from '../../src/core/request/client-request.ts'
import { Exchange } from '../../src/core/request/exchange.ts'
import type { ContentBlock, Message } from '../../src/core/request/message.ts'
import { RequestDocument } from '../../src/core/request/request.ts'
import type { PluginContext, PluginMiddleware } from '../../src/plugin/contract.ts'
import { type BilledTokens, sumOfTokens } from '../billing.ts'
import { PromptCache } from '../prompt-cache.ts'
import { countTokens } from '../tokens.ts'
import type { Trajectory } from './data.ts'
import { readView } from './reader.ts'

/** Figures of a session, with a policy or without one. */
export interface Replay {
  readonly calls: number
  /** Tokens of the whole session after its last message, and the largest call. */
  readonly finalTokens: number
  readonly mostTokens: number
  /** Tokens of all calls' inputs, and their price in uncached input tokens. */
  readonly inputTokens: number
  readonly cost: number
  /** The same tokens by price. */
  readonly billed: BilledTokens
  readonly breaks: number
  readonly needles: number
  readonly lostNeedles: readonly string[]
  /** Pointers in the whole session, and those that are invalid or ambiguous. */
  readonly pointers: number
  readonly unclear: number
  /** Blocks with more tokens than the client's. */
  readonly largerBlocks: number
  /** Milliseconds of a call with the whole session for new plugins, the best of some. */
  readonly coldMs: number
  /** Processor time of such a call in this thread, in milliseconds: the mean, since it is counted in ticks of 4. */
  readonly coldCpuMs: number
  /** Milliseconds of a call of the growing session, the median. */
  readonly warmMs: number
}

/** Runs of which the best counts; the others include other work of the machine. */
const COLD_RUNS = 9

/**
 * Replays a session call by call through a pipeline's plugins: every message of the assistant is the reply to one.
 * `coldRuns` is the number of runs behind `coldMs`, at least 1; tests, which measure no time, need no more.
 */
export async function replay(
  session: Trajectory,
  createSteps: () => Promise<PluginMiddleware[]>,
  coldRuns = COLD_RUNS,
): Promise<Replay> {
  const { messages } = session
  const steps = await createSteps()
  const cache = new PromptCache()
  const lostNeedles: string[] = []
  const totals = { calls: 0, inputTokens: 0, cost: 0, breaks: 0, mostTokens: 0, largerBlocks: 0 }
  const warmMs: number[] = []
  const bills: BilledTokens[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant' || at === 0) continue
    const seen = await rewrite(session, at, steps)
    const bill = cache.call(blocksOf(session, seen.messages))
    bills.push(bill)
    const tokens = bill.readTokens + bill.writtenTokens + bill.uncachedTokens
    totals.calls++
    totals.inputTokens += tokens
    totals.cost += bill.cost
    totals.breaks += bill.isBreak ? 1 : 0
    totals.mostTokens = Math.max(totals.mostTokens, tokens)
    totals.largerBlocks += largerBlocks(messages, seen.messages)
    warmMs.push(seen.ms)
    lostNeedles.push(...needlesLost(session, at, seen.messages))
  }
  const final = await rewrite(session, messages.length, steps)
  const reading = readView(final.messages)
  const cold: Rewritten[] = []
  for (let run = 0; run < coldRuns; run++) cold.push(await rewrite(session, messages.length, await createSteps()))
  return {
    ...totals,
    billed: sumOfTokens(bills),
    finalTokens: tokensOf(blocksOf(session, final.messages)),
    needles: session.needles.length,
    pointers: reading.texts.reduce((sum, { pointers }) => sum + pointers, 0),
    unclear: reading.faults.length,
    lostNeedles,
    coldMs: Math.min(...cold.map(({ ms }) => ms)),
    coldCpuMs: cold.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / cold.length,
    warmMs: median(warmMs),
  }
}

/** Request after the plugins, and their time. */
interface Rewritten {
  readonly messages: readonly Message[]
  readonly request: RequestDocument
  readonly ms: number
  readonly cpuMs: number
}

/** Rewrites the first `length` messages of a session as the provider would get them. */
export function rewrite(
  { system, messages }: Pick<Trajectory, 'system' | 'messages'>,
  length: number,
  steps: readonly PluginMiddleware[],
): Promise<Rewritten> {
  const body = { model: 'claude-sonnet-4-5', max_tokens: 1024, system, messages: messages.slice(0, length) }
  return rewriteBody(body, steps)
}

/** Rewrites a request's body as the provider would get it. */
export async function rewriteBody(body: unknown, steps: readonly PluginMiddleware[]): Promise<Rewritten> {
  const exchange = openExchange(Buffer.from(JSON.stringify(body)))
  // The scan of the body belongs to the gateway, with any plugins.
  void exchange.request.shape
  // Safe: plugins of this kind use the exchange and the reply's headers only.
  const ctx = { set: () => {}, state: { exchange } } as unknown as PluginContext
  const startedAt = process.threadCpuUsage()
  const startedAtMs = performance.now()
  const run = async (index: number): Promise<void> => steps[index]?.(ctx, () => run(index + 1))
  await run(0)
  const ms = performance.now() - startedAtMs
  const { user, system } = process.threadCpuUsage(startedAt)
  return { messages: exchange.request.messages, request: exchange.request, ms, cpuMs: (user + system) / 1000 }
}

function openExchange(bytes: Buffer): Exchange {
  return new Exchange({
    id: 'req_eval',
    route: 'messages',
    caller: { kind: 'local', scope: 'eval' },
    credential: { header: 'authorization', secret: 'eval' },
    headers: {},
    query: '',
    client: new ClientRequest(new RequestDocument(bytes)),
    request: undefined,
    targets: [{ provider: 'eval', model: 'claude-sonnet-4-5' }],
    signal: new AbortController().signal,
    reply: undefined,
    pipeline: 'eval',
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
    stored: {},
  })
}

interface Block {
  readonly text: string
  readonly tokens: number
}

/** Returns the blocks as the provider's cache sees them: the system text, and each block of each message. */
export function blocksOf({ system }: Pick<Trajectory, 'system'>, messages: readonly Message[]): Block[] {
  const blocks = messages.flatMap(({ role, content }) => {
    const parts: (string | ContentBlock)[] = typeof content === 'string' ? [content] : content
    return parts.map((part) => ({ text: `${role} ${JSON.stringify(part)}`, tokens: countTokens(textOf(part)) }))
  })
  return [{ text: system, tokens: countTokens(system) }, ...blocks]
}

/** Returns the text of a block that a model reads. */
function textOf(part: string | ContentBlock): string {
  if (typeof part === 'string') return part
  if (part.type === 'text') return part.text
  if (part.type === 'tool_use') return `${part.name} ${JSON.stringify(part.input)}`
  if (part.type === 'tool_result' && typeof part.content === 'string') return part.content
  return JSON.stringify(part)
}

function needlesLost({ needles }: Trajectory, at: number, seen: readonly Message[]): string[] {
  const wanted = needles.filter(([, , referring]) => referring === at)
  if (wanted.length === 0) return []
  const text = seen.flatMap(({ content }) => strings(content)).join('\n')
  return wanted.filter(([value]) => !text.includes(value)).map(([value]) => value)
}

/** Returns all strings in a value. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => (Array.isArray(value) ? [] : [key]).concat(strings(member)))
}

function largerBlocks(before: readonly Message[], after: readonly Message[]): number {
  const tokens = (messages: readonly Message[]) => blocksOf({ system: '' }, messages).map((block) => block.tokens)
  const originals = tokens(before.slice(0, after.length))
  return tokens(after).filter((count, index) => count > (originals[index] ?? 0)).length
}

function tokensOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

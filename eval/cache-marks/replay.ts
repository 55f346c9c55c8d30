import type { Plan } from '../../plugins/prompt-cache/plan.ts'
import { Planner } from '../../plugins/prompt-cache/planner.ts'
import { blockOf, type Call, type LaidOut, layOut, outlineOf } from './call.ts'
import type { TokenPrices } from './hindsight.ts'
import { type BlockMark, type InputBill, ProviderCache } from './provider-cache.ts'

/** Model of a replay. */
export interface Model {
  readonly prices: TokenPrices
  readonly leastTokens: number
  readonly replyMs: number
  readonly isChained?: boolean
}

/** Chooses the marks of calls, one after another. */
export interface Policy {
  readonly name: string
  marks(call: Call, laidOut: LaidOut): readonly BlockMark[]
  /** Takes in the bill of a call when its reply has ended. */
  settle?(call: Call, bill: InputBill): void
}

/** Replays calls, in the order of time; returns their input cost in the unit of the prices. */
export function replayCost(calls: readonly Call[], policy: Policy, model: Model): number {
  const cache = new ProviderCache(model)
  const running: { call: Call; bill: InputBill; endsAtMs: number }[] = []
  let cost = 0
  for (const call of calls) {
    while (running[0] !== undefined && running[0].endsAtMs <= call.atMs) {
      const ended = running.shift()
      if (ended !== undefined) policy.settle?.(ended.call, ended.bill)
    }
    const laidOut = layOut(call)
    const bill = cache.call(laidOut.blocks, policy.marks(call, laidOut), call.atMs)
    running.push({ call, bill, endsAtMs: call.atMs + model.replyMs })
    cost += costOf(bill, model.prices)
  }
  return cost
}

function costOf({ fresh, read, written5m, written1h }: InputBill, prices: TokenPrices): number {
  return fresh * prices.fresh + read * prices.read + written5m * prices.write5m + written1h * prices.write1h
}

/** No marks. */
export function withoutMarks(): Policy {
  return { name: 'no marks', marks: () => [] }
}

/** Marks the system and the last block of every call, as gateways do that always mark. */
export function alwaysMarking(): Policy {
  return {
    name: 'always',
    marks(_, { blocks, systemEnd }) {
      const ends = [...new Set([systemEnd, blocks.length - 1])].filter((block) => block >= 0)
      return ends.map((block) => ({ block, lifetime: '5m' }))
    },
  }
}

const MOST = 10_000

/** The plugin's policy. */
export function learning({ prices, leastTokens }: Model): Policy {
  const planner = new Planner(MOST)
  const plans = new Map<Call, Plan>()
  const { fresh, read, write5m, write1h } = prices
  const ratios = { read: read / fresh, write: { '5m': write5m / fresh, '1h': write1h / fresh } }
  return {
    name: 'prompt-cache',
    marks(call, laidOut) {
      const outline = outlineOf(call, laidOut)
      const { conversation, atMs } = call
      const plan = planner.plan({ scope: 'one', conversation, outline, prices: ratios, leastTokens }, atMs)
      plans.set(call, plan)
      return plan.marks.map(({ place, lifetime }) => ({ block: blockOf(place, laidOut), lifetime }))
    },
    settle(call, { fresh: plain, read: readTokens, written5m, written1h }) {
      const writtenTokens = { '5m': written5m, '1h': written1h }
      plans.get(call)?.settle({ inputTokens: plain + readTokens + written5m + written1h, readTokens, writtenTokens })
      plans.delete(call)
    },
  }
}

import { readUsage, type Usage } from '../../core/reply/usage.ts'
import type { Target } from '../../core/request/exchange.ts'

/** A call of a model that is part of one usage. */
export interface BilledCall {
  readonly target: Target
  readonly usage: Usage
}

/** Iterations that the message's counts leave out. */
const HIDDEN = new Set(['compaction', 'advisor_message'])

/**
 * Lists the models that are billed for a usage, the answering one first: usually the requested model, or the one named by
 * the reply. The provider may have replaced it by another (Claude API, "Refusals and fallback": server-side fallback), and
 * there are inner calls that the counts leave out although they are billed: the summary of a compaction, and an advisor,
 * which is a model of its own ("Compaction": usage; "Advisor tool": usage and billing).
 */
export function billedCalls(asked: Target, usage: Usage): [BilledCall, ...BilledCall[]] {
  const { servedModel } = usage
  const { iterations } = usage.raw
  const target = servedModel === undefined ? asked : { provider: asked.provider, model: servedModel }
  if (!Array.isArray(iterations)) return [{ target, usage }]
  let answering = target
  const hidden: BilledCall[] = []
  for (const iteration of iterations) {
    const counts = readUsage(iteration)
    if (counts === undefined) continue
    const { type, model } = counts.raw
    const own = typeof model === 'string' ? { provider: target.provider, model } : target
    if (type === 'fallback_message') answering = own
    else if (HIDDEN.has(String(type))) hidden.push({ target: own, usage: { ...termsOf(usage), ...counts } })
  }
  return [{ target: answering, usage }, ...hidden]
}

/** Returns the terms of the whole call; iterations do not repeat them. */
function termsOf({ serviceTier, inferenceGeo, speed }: Usage) {
  return {
    ...(serviceTier !== undefined && { serviceTier }),
    ...(inferenceGeo !== undefined && { inferenceGeo }),
    ...(speed !== undefined && { speed }),
  }
}

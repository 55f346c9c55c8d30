import type { BoundPools, PoolKey } from './bound/pools.ts'
import type { JudgeTrouble } from './judge/judge.ts'
import type { Found, Lookup } from './lookup.ts'
import type { Mode, NearMiss } from './matcher.ts'

/** What is compared with the fresh answer when it is there, and what for. */
export type Later =
  /** Mode `judged`: whether it becomes another way to ask. */
  | { readonly kind: 'near-miss'; readonly near: NearMiss }
  /** Mode `bound`: evidence. */
  | {
      readonly kind: 'evidence'
      readonly near: NearMiss
      readonly key: PoolKey
      readonly isAudit: boolean
    }
  /** Shadow: what would have been given. */
  | { readonly kind: 'shadow'; readonly near: NearMiss; readonly evidenceFor: PoolKey | undefined }

/** What is done with what was found. */
export interface Plan {
  /** What may be given. */
  readonly found: Found | undefined
  /** By whose evidence it is given. */
  readonly bound: { readonly key: PoolKey; readonly score: number } | undefined
  readonly later: Later | undefined
  /** For the trace: why nothing is given, and what was looked at. */
  readonly told: Readonly<Record<string, unknown>>
}

/** What a plan is made from. */
export interface Planning {
  readonly mode: Mode
  readonly isShadow: boolean
  readonly pool: string
  readonly pools: BoundPools
  /** Why nothing would be judged now, `off` when nobody is to; `undefined` when it would. */
  readonly judging: JudgeTrouble | 'off' | undefined
}

/** Decides whether what was found is given, and what is to be found out when the provider has answered. */
export function planFor(lookup: Lookup, planning: Planning): Plan {
  const { found, near, reason } = lookup
  if (planning.mode.kind === 'bound' && near !== undefined) return planBound(near, planning.mode.delta, planning)
  if (found !== undefined && planning.isShadow && found.tier === 'semantic') return planShadow(found)
  const told = { reason }
  if (near === undefined || planning.isShadow) return { found, bound: undefined, later: undefined, told }
  const later = { kind: 'near-miss', near } as const
  return {
    found,
    bound: undefined,
    later,
    told: { ...told, near: near.entry.id, judging: planning.judging ?? 'queued' },
  }
}

function planShadow(found: Found): Plan {
  const near = { entry: found.entry, cosine: found.score, score: 0 }
  return { found, bound: undefined, later: { kind: 'shadow', near, evidenceFor: undefined }, told: {} }
}

function planBound(near: NearMiss, delta: number, { isShadow, pool, pools, judging }: Planning): Plan {
  const key = { id: pool, delta }
  const evidence = pools.get(key)
  const decision = evidence.decide(near.score)
  const score = Number(near.score.toFixed(2))
  const found: Found = { entry: near.entry, tier: 'semantic', score: near.cosine }
  const isAudit = decision === 'audit'
  if (isShadow && (isAudit || decision === 'serve')) {
    return { found, bound: undefined, later: { kind: 'shadow', near, evidenceFor: key }, told: { bound: score } }
  }
  if (decision === 'serve') {
    return { found, bound: { key, score: near.score }, later: undefined, told: { bound: score } }
  }
  const looked = { bound: score, least: evidence.calibration?.leastScore, near: near.entry.id }
  const reason = isAudit ? 'audit' : `bound-${evidence.standing}`
  if (decision === 'refuse')
    return { found: undefined, bound: undefined, later: undefined, told: { reason, ...looked } }
  const later = { kind: 'evidence', near, key, isAudit } as const
  return { found: undefined, bound: undefined, later, told: { reason, ...looked, judging: judging ?? 'queued' } }
}
